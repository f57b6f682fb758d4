internal import Foundation
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// A connection that is not read from for a while, so that its server waits, too.
///
/// Foundation on Linux cannot hold one back: `suspend()` ends the connection, and `resume()` sends
/// the request again. All its sessions read on one queue, so a callback that waits there blocks
/// every transfer of the process. The underlying libcurl can. So this takes libcurl's handle out of
/// the task, by reflection, and calls the function with which Foundation itself pauses uploads.
///
/// If a later Foundation keeps the handle elsewhere, nothing is held back, and pieces wait in
/// memory. `SinkLineTests` would fail then.
@safe struct HeldConnection: @unchecked Sendable {
  #if canImport(FoundationNetworking)
    /// Foundation's object that owns `handle`.
    private let owner: AnyObject
    private let handle: UnsafeMutableRawPointer

    /// - Parameter task: the task whose callback calls this.
    init?(of task: URLSessionTask) {
      guard let storage = Self.child("_protocolStorage", of: task),
        let loader = Mirror(reflecting: storage).children.first?.value,
        let easyHandle = Self.child("easyHandle", of: loader),
        // `easyHandle` is an implicitly unwrapped optional.
        let owner = Mirror(reflecting: easyHandle).children.first?.value,
        let handle = unsafe Self.child("rawHandle", of: owner) as? UnsafeMutableRawPointer
      else { return nil }
      self.owner = owner as AnyObject
      unsafe self.handle = handle
    }

    private static func child(_ label: String, of value: Any) -> Any? {
      var mirror: Mirror? = Mirror(reflecting: value)
      while let level = mirror {
        if let child = level.children.first(where: { $0.label == label }) { return child.value }
        mirror = level.superclassMirror
      }
      return nil
    }

    /// Whether it carries many requests at a time, as HTTP/2 does. Call it in a callback of the
    /// session, once there is a response.
    var isMultiplexed: Bool { version >= 3 }

    /// libcurl's number of the version of HTTP: 2 for HTTP/1.1, 3 for HTTP/2, 0 before a response.
    var version: Int {
      var version = CLong(0)
      let httpVersion: CInt = 0x20_0000 + 46  // CURLINFO_HTTP_VERSION
      return unsafe readNumber(handle, httpVersion, &version) == 0 ? version : 0
    }

    /// Call it in a callback of the session. Has no effect if the connection is held.
    func hold() { _ = unsafe setPauseState(handle, 0, 1) }

    /// Call it on the session's own queue. Has no effect if the task has ended.
    func release() { _ = unsafe setPauseState(handle, 0, 0) }
  #else
    private let task: URLSessionTask

    /// Suspends the task once, since suspensions are counted.
    init?(of task: URLSessionTask) {
      self.task = task
      task.suspend()
    }

    func hold() {}
    func release() { task.resume() }
  #endif
}

#if canImport(FoundationNetworking)
  /// Foundation's function around `curl_easy_getinfo`.
  @_silgen_name("CFURLSession_easy_getinfo_long")
  private func readNumber(
    _ handle: UnsafeMutableRawPointer, _ info: CInt, _ number: UnsafeMutablePointer<CLong>
  ) -> CInt

  /// Foundation's function around `curl_easy_pause`, which libcurl allows to be called in its
  /// callbacks.
  @_silgen_name("CFURLSessionEasyHandleSetPauseState")
  private func setPauseState(
    _ handle: UnsafeMutableRawPointer, _ isSendPaused: CInt, _ isReceivePaused: CInt
  ) -> CInt
#endif

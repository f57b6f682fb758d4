internal import Foundation
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// A connection from which nothing is read for a while, so that its server waits, too.
///
/// On Linux Foundation cannot do that: `suspend()` ends the connection, and `resume()` sends the request again. And as
/// all its sessions read on one queue, a callback that waits there holds back every transfer of the process. libcurl,
/// on which it stands, can. So this takes libcurl's handle out of the task, by reflection, and calls the function that
/// Foundation itself pauses uploads with.
///
/// If a later Foundation has the handle in another place, nothing is held back, and pieces wait in memory.
/// `SinkLineTests` would say so.
@safe struct HeldConnection: @unchecked Sendable {
  #if canImport(FoundationNetworking)
    /// Foundation's object around `handle`, which lives as long.
    private let owner: AnyObject
    private let handle: UnsafeMutableRawPointer

    /// - Parameter task: whose callback calls this.
    init?(of task: URLSessionTask) {
      guard let storage = Self.child("_protocolStorage", of: task),
        let loader = Mirror(reflecting: storage).children.first?.value,
        let easyHandle = Self.child("easyHandle", of: loader),
        // An implicitly unwrapped optional.
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

    /// Called in a callback of the session. Nothing happens if it is held.
    func hold() { _ = unsafe setPauseState(handle, 0, 1) }

    /// On the session's own queue. Nothing happens if its task has ended.
    func release() { _ = unsafe setPauseState(handle, 0, 0) }
  #else
    private let task: URLSessionTask

    /// Once: suspensions count.
    init?(of task: URLSessionTask) {
      self.task = task
      task.suspend()
    }

    func hold() {}
    func release() { task.resume() }
  #endif
}

#if canImport(FoundationNetworking)
  /// Foundation's function around `curl_easy_pause`, which libcurl allows to be called in its callbacks.
  @_silgen_name("CFURLSessionEasyHandleSetPauseState")
  private func setPauseState(
    _ handle: UnsafeMutableRawPointer, _ isSendPaused: CInt, _ isReceivePaused: CInt
  ) -> CInt
#endif

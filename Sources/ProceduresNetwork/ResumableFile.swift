internal import Foundation
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Writes the body to a file beside the destination. The file stays when the transfer ends early,
/// and the next transfer requests the rest.
///
/// ```
/// archive.part       the received part
/// archive.part-tag   its origin: a checksum of the request, and the server's mark of this version
/// ```
///
/// 1. The tag is written before the first byte. A part without a tag is not resumed.
/// 2. Only one transfer of all processes uses the part: its file is locked.
/// 3. The part and its tag are changed, moved and removed by name only while the open file is the
///    part. Otherwise somebody has removed it, and another transfer may have made its own.
/// 4. The last byte is requested again, so that the range is not empty if the part is complete.
/// 5. A response that has no body by HTTP changes neither the part nor the destination.
final class ResumableFile: BodySink {
  /// The request: for the rest if there is a part.
  private(set) var request: URLRequest
  private let destination: URL
  private let partial: URL
  private let tag: URL
  private let identity: String
  private var handle: FileHandle?
  /// The server's mark of the part.
  private var mark: String?
  /// The offset of the requested rest.
  private var start: Int64?
  private var total: Int64?
  private var hasBody = true

  /// - Parameter sessionHeader: header fields that the session adds to the request.
  /// - Throws: an error if the part cannot be opened, or another download uses it.
  init(
    of request: URLRequest, adding sessionHeader: [AnyHashable: Any] = [:], for destination: URL
  ) throws {
    self.request = request
    identity = Self.identity(of: request, adding: sessionHeader)
    self.destination = destination
    partial = destination.appendingPathExtension("part")
    tag = destination.appendingPathExtension("part-tag")
    let handle = try Self.open(partial)
    self.handle = handle
    // The next attempt opens the part again.
    handle.takePermissions(of: destination, adding: 0o600)
    // A compressed body has other offsets than the decoded one.
    if request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
      self.request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    }
    let size = Int64(clamping: try handle.seekToEnd())
    let lines =
      (try? String(contentsOf: tag, encoding: .utf8))?
      .split(separator: "\n", omittingEmptySubsequences: false) ?? []
    guard size > 0, lines.count == 2, lines[0] == identity else { return }
    (mark, start) = (String(lines[1]), size - 1)
    self.request.setValue("bytes=\(size - 1)-", forHTTPHeaderField: "Range")
    self.request.setValue(mark, forHTTPHeaderField: "If-Range")
  }

  func begin(_ response: HTTPURLResponse) throws {
    try handle?.checkPlace(partial)
    hasBody = response.mayHaveBody(after: request)
    guard hasBody else { return }
    let mark = Self.mark(of: response)
    guard response.statusCode == 206 else { return try beginAnew(mark) }
    guard let range = ContentRange(of: response), range.start == start,
      mark == nil || mark == self.mark
    else {
      // The server sent another part than the requested one. The next attempt begins anew.
      self.mark = nil
      throw URLError(.badServerResponse)
    }
    total = range.total
    try handle?.truncate(atOffset: UInt64(range.start))
  }

  private func beginAnew(_ mark: String?) throws {
    try handle?.truncate(atOffset: 0)
    (self.mark, total) = (mark, nil)
    if let mark {
      try Data("\(identity)\n\(mark)".utf8).write(to: tag, options: .atomic)
    } else {
      try? FileManager.default.removeItem(at: tag)
    }
  }

  func receive(_ piece: Data) throws { try handle?.write(contentsOf: piece) }

  func end() throws -> URL {
    guard hasBody else {
      leavePart(isOfNoUse: mark == nil)
      return destination
    }
    if let total, try handle?.offset() ?? 0 != UInt64(total) {
      throw URLError(.networkConnectionLost)
    }
    try handle?.checkPlace(partial)
    handle?.takePermissions(of: destination)
    // Replace while the file is locked: a download that opens it afterwards finds that it is no
    // longer the part.
    try FileSink.replace(destination, with: partial)
    try? FileManager.default.removeItem(at: tag)
    try close()
    return destination
  }

  func discard(after error: any Error) {
    // 416: the part is longer than the whole.
    leavePart(isOfNoUse: mark == nil || (error as? NetworkError)?.statusCode == 416)
  }

  /// Closes the part, and removes it if the next transfer cannot use it.
  private func leavePart(isOfNoUse: Bool) {
    let isEmpty = (try? handle?.seekToEnd()) ?? 0 == 0
    if handle?.isStill(at: partial) == true, isOfNoUse || isEmpty {
      for file in [partial, tag] { try? FileManager.default.removeItem(at: file) }
    }
    try? close()
  }

  /// Unlocks explicitly: a process that another thread is just starting may keep the file open, and
  /// with it the lock, a moment longer.
  private func close() throws {
    guard let handle = handle.take() else { return }
    _ = flock(handle.fileDescriptor, LOCK_UN)
    try handle.close()
  }

  /// Opens and locks the part; creates it if it does not exist. A symbolic link is an error: the
  /// link, and not the file, would become the destination.
  private static func open(_ partial: URL) throws -> FileHandle {
    while true {
      let descriptor = unsafe partial.withUnsafeFileSystemRepresentation { path in
        guard let path = unsafe path else { return Int32(-1) }
        return unsafe openFile(path)
      }
      guard descriptor >= 0 else {
        throw CocoaError.writing(partial, failedWith: errno)
      }
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        throw CocoaError(.fileLocking, userInfo: [NSFilePathErrorKey: partial.path])
      }
      // Its last owner may have ended in between, and have moved the file to the destination or
      // removed it.
      if handle.isStill(at: partial) { return handle }
    }
  }

  /// A checksum of the request's method, URL and header. A server may choose the resource by each
  /// of them, and a mark distinguishes versions of one resource, not two resources.
  ///
  /// Their text is not stored, since it may be secret.
  static func identity(
    of request: URLRequest, adding sessionHeader: [AnyHashable: Any] = [:]
  ) -> String {
    var header: [String: String] = [:]
    for (name, value) in sessionHeader { header["\(name)".lowercased()] = "\(value)" }
    for (name, value) in request.allHTTPHeaderFields ?? [:] { header[name.lowercased()] = value }
    let lines = header.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    let text = [request.httpMethod ?? "GET", request.url?.absoluteString ?? ""] + lines
    // FNV-1a.
    var checksum: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
    for byte in text.joined(separator: "\n").utf8 {
      checksum = (checksum ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
    }
    return String(checksum, radix: 16)
  }

  /// The server's mark of this version of the resource, if a request can name it for the rest.
  static func mark(of response: HTTPURLResponse) -> String? {
    func header(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }
    guard (header("Content-Encoding") ?? "identity").lowercased() == "identity" else { return nil }
    if let mark = header("ETag") { return mark.hasPrefix("W/") ? nil : mark }
    // Within the second of a change the resource may have changed again.
    guard let date = header("Last-Modified"), let changed = RetryAfter.secondsSince1970(date),
      let now = header("Date").flatMap(RetryAfter.secondsSince1970), changed < now
    else { return nil }
    return date
  }
}

/// It needs another name, since a method is called `open`.
private func openFile(_ path: UnsafePointer<CChar>) -> Int32 {
  unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
}

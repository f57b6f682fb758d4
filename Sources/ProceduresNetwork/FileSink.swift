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
#elseif canImport(Android)
  internal import Android
#endif

/// Writes the body to a file beside the destination. The file replaces the destination when it is
/// complete.
///
/// So the destination is never half a file, and does not change if the transfer fails, or if the
/// response has no body by HTTP. A new temporary file is empty then.
final class FileSink: BodySink {
  private let request: URLRequest
  private let isTemporary: Bool
  private let destination: URL
  private let partial: URL
  private var handle: FileHandle?

  /// - Parameters:
  ///   - request: the request; after redirects it may have been another one with its method.
  ///   - destination: nil for a new file among the temporary ones.
  init(of request: URLRequest, for destination: URL?) {
    self.request = request
    isTemporary = destination == nil
    let destination =
      destination
      ?? FileManager.default.temporaryDirectory.appending(path: "\(Self.uniqueName()).download")
    self.destination = destination
    partial = destination.deletingLastPathComponent().appending(
      // The name of the destination is left out: it may be as long as names can be.
      path: ".download-\(Self.uniqueName()).part")
  }

  /// It is no `UUID`: without a free descriptor Foundation on Linux makes each of them of zeros,
  /// and two downloads would share one file. Swift's generator needs no descriptor.
  private static func uniqueName() -> String {
    let numbers = (0..<2).map { _ in UInt64.random(in: .min ... .max) }
    return numbers.map { String($0, radix: 36) }.joined(separator: "-")
  }

  func begin(_ response: HTTPURLResponse) throws {
    guard isTemporary || response.mayHaveBody(after: request) else { return removePart() }
    // An empty write throws the error, which `createFile` does not report.
    try Data().write(to: partial)
    handle = try FileHandle(forWritingTo: partial)
    handle?.takePermissions(of: destination)
  }

  func receive(_ data: Data) throws { try handle?.write(contentsOf: data) }

  func end() throws -> URL {
    guard let handle else { return destination }
    // Somebody who tidies up may have removed it, and another file may have its name.
    try handle.checkPlace(partial)
    try handle.close()
    self.handle = nil
    try Self.replace(destination, with: partial)
    return destination
  }

  /// Replaces the destination in one step.
  static func replace(_ destination: URL, with partial: URL) throws {
    try checkMayReplace(destination)
    let code = unsafe partial.withUnsafeFileSystemRepresentation { from in
      unsafe destination.withUnsafeFileSystemRepresentation { to in
        guard let from = unsafe from, let to = unsafe to else { return EINVAL }
        return unsafe rename(from, to) == 0 ? 0 : errno
      }
    }
    if code != 0 { throw CocoaError.writing(destination, failedWith: code) }
  }

  /// - Throws: an error that says what the destination is, if it is neither a file nor a symbolic
  ///   link: a device, a pipe or a socket would be gone for all who use it.
  static func checkMayReplace(_ destination: URL) throws {
    let kind: String
    switch destination.fileMode(followingLinks: false).map({ $0 & S_IFMT }) {
    case nil, S_IFREG, S_IFLNK: return
    case S_IFDIR: kind = "folder"
    case S_IFIFO: kind = "named pipe"
    case S_IFSOCK: kind = "socket"
    default: kind = "device"
    }
    throw CocoaError(
      .fileWriteUnknown,
      userInfo: [
        NSFilePathErrorKey: destination.path,
        NSLocalizedDescriptionKey:
          "A download cannot replace '\(destination.path)': it is a \(kind), and no file",
      ])
  }

  func discard(after error: any Error) { removePart() }

  private func removePart() {
    guard handle != nil || FileManager.default.fileExists(atPath: partial.path) else { return }
    try? handle?.close()
    handle = nil
    try? FileManager.default.removeItem(at: partial)
  }
}

extension CocoaError {
  /// The error for a failed write of `file` with the system's `code`.
  static func writing(_ file: URL, failedWith code: Int32) -> CocoaError {
    CocoaError(
      .fileWriteUnknown,
      userInfo: [
        NSFilePathErrorKey: file.path,
        NSUnderlyingErrorKey: POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO),
      ])
  }
}

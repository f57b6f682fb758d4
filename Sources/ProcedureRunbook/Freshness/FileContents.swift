#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Digests of the contents of files.
enum FileContents {
  struct Read: Sendable {
    let digest: Fingerprint
    /// Its status, if that was the same before and after the read; nil if the file was changed
    /// meanwhile.
    let status: FileStatus?
  }

  /// The digest of anything without contents, such as a pipe or a device: only its existence
  /// counts.
  static let ofOther = digest("other")

  /// The digest of a folder that was walked before.
  static let ofKnownFolder = digest("folder")

  /// The digest of the target of a link that leads to no file; nil if it cannot be read.
  static func ofLink(_ path: FilePath) -> Fingerprint? {
    guard let target = path.linkText else { return nil }
    var digest = digest("link")
    digest.add(target)
    return digest
  }

  /// Reads a file; nil if it cannot be read to its end.
  static func read(_ path: FilePath) -> Read? {
    let descriptor = unsafe path.withPointer { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let status = FileStatus(descriptor: descriptor)
    var digest = Fingerprint()
    // A small file is read in one piece.
    let room = min(max(4096, (status?.size ?? 0) + 1), 1 << 18)
    let isRead = unsafe withUnsafeTemporaryAllocation(byteCount: room, alignment: 16) { buffer in
      var count = 0
      while true {
        // It reads full pieces, so that the digest does not depend on how many bytes one call
        // returns.
        let rest = unsafe buffer.baseAddress.map { unsafe $0 + count }
        let more = unsafe systemRead(descriptor, rest, buffer.count - count)
        if more < 0, errno == EINTR { continue }
        if more < 0 { return false }
        count += more
        guard more == 0 || count == buffer.count else { continue }
        unsafe digest.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        if more == 0 { return true }
        count = 0
      }
    }
    guard isRead else { return nil }
    let statusAfter = FileStatus(descriptor: descriptor)
    return Read(digest: digest, status: status == statusAfter ? status : nil)
  }

  private static func digest(_ word: String) -> Fingerprint {
    var digest = Fingerprint()
    digest.add(word)
    digest.add(UInt64.max)
    return digest
  }
}

/// It has a name of its own, since a method is called `read`.
private func systemRead(
  _ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int
) -> Int {
  unsafe read(descriptor, bytes, count)
}

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Digests of what is in files.
enum FileContents {
  struct Read: Sendable {
    let digest: Fingerprint
    /// As it was before and after: then the digest is that of this state. nil: it was changed meanwhile.
    let status: FileStatus?
  }

  /// Stands for what has no contents of its own, as a pipe or a device: that it is there.
  static let ofOther = digest("other")

  /// Stands for a folder in which it is not looked, since it was found before.
  static let ofKnownFolder = digest("folder")

  /// Where a link leads that leads to no file; nil when that cannot be read.
  static func ofLink(_ path: FilePath) -> Fingerprint? {
    let target = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      guard let base = buffer.baseAddress else { return }
      let text = unsafe UnsafeMutableRawPointer(base).assumingMemoryBound(to: CChar.self)
      count = unsafe path.withPointer { unsafe readlink($0, text, 4096) }
      count = max(0, count)
    }
    guard !target.isEmpty else { return nil }
    var digest = digest("link")
    digest.add(FilePath(target))
    return digest
  }

  /// Reads a file; nil when it cannot be read to its end.
  static func read(_ path: FilePath) -> Read? {
    let descriptor = unsafe path.withPointer { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let status = FileStatus(descriptor: descriptor)
    var digest = Fingerprint()
    // A small file is one piece, whatever the room.
    let room = min(max(4096, (status?.size ?? 0) + 1), 1 << 18)
    let isRead = unsafe withUnsafeTemporaryAllocation(byteCount: room, alignment: 16) { buffer in
      var count = 0
      while true {
        // Full pieces, so that the digest does not depend on how many bytes came at once.
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

/// Under another name, since a method is called `read`.
private func systemRead(
  _ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int
) -> Int {
  unsafe read(descriptor, bytes, count)
}

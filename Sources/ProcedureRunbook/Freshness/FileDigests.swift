internal import ProcedurePrimitives

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Digests of the contents of files: each file is read once, and again when it was changed.
///
/// What is known is remembered in the journal, with size, time and inode of the file, for the runs to come.
final class FileDigests: Sendable {
  private let journal: RunJournal
  private let state = Locked<[String: Digest]>([:])

  /// The digest of one file. Its lock is held while the file is read: who wants the same one waits.
  private final class Digest: Sendable {
    let known = Locked<(stamp: FileStamp, digest: Fingerprint)?>(nil)
  }

  /// It would have to be read, and must not.
  struct NotRead: Error {}

  init(_ journal: RunJournal) { self.journal = journal }

  /// Adds the contents of a file or folder; false when not all of them can be read.
  func add(
    _ tree: FileTree, to fingerprint: inout Fingerprint, mayRead: Bool
  ) throws(NotRead) -> Bool {
    fingerprint.add(UInt64(tree.files.count))
    for file in tree.files {
      guard let digest = try digest(of: file, mayRead: mayRead) else { return false }
      fingerprint.add(file.name)
      fingerprint.add(digest)
    }
    return true
  }

  /// Its text: of what is only there it is empty. nil when it cannot be read.
  private func digest(of file: FileTree.File, mayRead: Bool) throws(NotRead) -> String? {
    guard file.status.kind == .file else {
      // A pipe has other contents each time. In a folder it is only there.
      guard file.name.isEmpty else { return "" }
      guard mayRead else { throw NotRead() }
      return Self.read(file.path)?.digest.text
    }
    let stamp = file.status.stamp
    // Most are remembered, and need no memory here.
    if let digest = journal.digest(of: file.path, stamp) { return digest.text }
    let digest = state.withLock { state in
      if let digest = state[file.path] { return digest }
      let digest = Digest()
      state[file.path] = digest
      return digest
    }
    return try digest.known.withLock { known throws(NotRead) in
      if let known, known.stamp == stamp { return known.digest.text }
      guard mayRead else { throw NotRead() }
      guard let (digest, statusRead) = Self.read(file.path) else { return nil }
      // What was changed just now may be changed once more within the same tick of the file's clock.
      if statusRead == file.status, file.status.time.seconds < FileTime.now.seconds - 1 {
        journal.note(digest: digest, of: file.path, stamp)
      }
      known = (stamp, digest)
      return digest.text
    }
  }

  /// nil when it cannot be read to its end.
  private static func read(_ path: String) -> (digest: Fingerprint, status: FileStatus?)? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let status = FileStatus(descriptor: descriptor)
    var fingerprint = Fingerprint()
    let isRead = unsafe withUnsafeTemporaryAllocation(byteCount: 1 << 18, alignment: 16) { buffer in
      var count = 0
      while true {
        // Full pieces, so that the digest does not depend on how many bytes came at once.
        let rest = unsafe buffer.baseAddress.map { unsafe $0 + count }
        let more = unsafe systemRead(descriptor, rest, buffer.count - count)
        if more < 0, errno == EINTR { continue }
        if more < 0 { return false }
        count += more
        guard more == 0 || count == buffer.count else { continue }
        unsafe fingerprint.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        if more == 0 { return true }
        count = 0
      }
    }
    guard isRead else { return nil }
    // Changed while it was read: then this is the digest of no state that it had.
    let statusAfter = FileStatus(descriptor: descriptor)
    return (fingerprint, status == statusAfter ? status : nil)
  }
}

/// Under another name, since a method is called `read`.
private func systemRead(
  _ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int
) -> Int {
  unsafe read(descriptor, bytes, count)
}

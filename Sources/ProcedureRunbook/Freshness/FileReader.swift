internal import ProcedurePrimitives

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Computes the digests of files for one run. A file that several steps need at the same time is
/// read once.
final class FileReader: Sendable {
  /// A file up to this size is read by the thread that checks it, a larger one by a thread for
  /// that.
  static let small = 1 << 16

  private typealias Reading = Locked<(stamp: FileStamp, digest: Fingerprint)?>

  private final class File: Sendable {
    /// The lock is held while the file is read.
    let known = Reading(nil)
  }

  private struct Key: Hashable {
    let journal: ObjectIdentifier
    let file: Int32
  }

  private let files = Locked<[Key: File]>([:])
  /// The times at which files were known to be made, by their stamps: a file has several paths.
  private let made = Locked<[Fingerprint: ContinuousClock.Instant]>([:])

  enum Result: Sendable {
    case digest(Fingerprint)
    /// The file is larger than the limit.
    case notRead
    case unreadable
  }

  /// - Parameter limit: the size of the largest file that it reads.
  func digest(
    of file: Int32, at path: FilePath, _ status: FileStatus, in journal: RunJournal, limit: Int
  ) -> Result {
    let stamp = status.stamp
    // Most digests are remembered, and need no memory here.
    if let digest = journal.digest(of: file, stamp) { return .digest(digest) }
    guard status.size <= limit else { return .notRead }
    // Several steps may need a large file at the same time, so these share one read.
    guard status.size > Self.small else {
      return Self.read(file, path, status, journal).map { .digest($0.digest) } ?? .unreadable
    }
    let key = Key(journal: ObjectIdentifier(journal), file: file)
    let entry = files.withLock { files in
      let entry = files[key] ?? File()
      files[key] = entry
      return entry
    }
    return entry.known.withLock { known in
      if let known, known.stamp == stamp { return .digest(known.digest) }
      // Without this pause the digest could not be remembered, and the next step would read the
      // file again.
      if !status.isSettled(at: .now) { usleep(60_000) }
      guard let read = Self.read(file, path, status, journal) else { return .unreadable }
      known = read.isSettled ? (stamp, read.digest) : nil
      return .digest(read.digest)
    }
  }

  private static func read(
    _ file: Int32, _ path: FilePath, _ status: FileStatus, _ journal: RunJournal
  ) -> (digest: Fingerprint, isSettled: Bool)? {
    // A change after this moment gets another time than an earlier change, or the file is not
    // settled.
    let isSettled = status.isSettled(at: .now)
    guard let read = FileContents.read(path) else { return nil }
    guard isSettled, read.status == status else { return (read.digest, false) }
    journal.remember(read.digest, of: file, status.stamp)
    return (read.digest, true)
  }

  // MARK: What steps of this run have made

  func noteMade(_ stamp: FileStamp) {
    made.withLock { made in
      if made[stamp.all] == nil { made[stamp.all] = .now }
    }
  }

  /// Whether a step of this run had made the file with this stamp by then.
  func wasMade(_ stamp: FileStamp, before instant: ContinuousClock.Instant) -> Bool {
    made.withLock { made in made[stamp.all].map { $0 <= instant } ?? false }
  }
}

internal import ProcedurePrimitives

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Reads files of one run, for their digests: one that several steps want at a time is read once.
final class FileReader: Sendable {
  /// Up to this size a file is read where it is looked at; a larger one on a thread for that.
  static let small = 1 << 16

  private typealias Reading = Locked<(stamp: FileStamp, digest: Fingerprint)?>

  private final class File: Sendable {
    /// Its lock is held while the file is read.
    let known = Reading(nil)
  }

  private struct Key: Hashable {
    let journal: ObjectIdentifier
    let file: Int32
  }

  private let files = Locked<[Key: File]>([:])
  private let made = Locked<[Key: (stamp: FileStamp, since: ContinuousClock.Instant)]>([:])

  enum Result: Sendable {
    case digest(Fingerprint)
    /// It is larger than it may be.
    case notRead
    case unreadable
  }

  /// - Parameter limit: the largest file that is read.
  func digest(
    of file: Int32, at path: FilePath, _ status: FileStatus, in journal: RunJournal, limit: Int
  ) -> Result {
    let stamp = status.stamp
    // Most are remembered, and need no memory here.
    if let digest = journal.digest(of: file, stamp) { return .digest(digest) }
    guard status.size <= limit else { return .notRead }
    // What many want at a time is large.
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
      // It would be read anew by the next one that looks at it.
      if !status.isSettled(at: .now) { usleep(60_000) }
      guard let read = Self.read(file, path, status, journal) else { return .unreadable }
      known = read.isSettled ? (stamp, read.digest) : nil
      return .digest(read.digest)
    }
  }

  private static func read(
    _ file: Int32, _ path: FilePath, _ status: FileStatus, _ journal: RunJournal
  ) -> (digest: Fingerprint, isSettled: Bool)? {
    // A change after this moment has another time than one before it, or is not yet settled.
    let isSettled = status.isSettled(at: .now)
    guard let read = FileContents.read(path) else { return nil }
    guard isSettled, read.status == status else { return (read.digest, false) }
    journal.remember(read.digest, of: file, status.stamp)
    return (read.digest, true)
  }

  // MARK: What steps of this run have made

  func noteMade(_ file: Int32, _ stamp: FileStamp, in journal: RunJournal) {
    let key = Key(journal: ObjectIdentifier(journal), file: file)
    made.withLock { $0[key] = (stamp, .now) }
  }

  /// Whether a step had made it like this by then.
  func wasMade(
    _ file: Int32, _ stamp: FileStamp, before instant: ContinuousClock.Instant,
    in journal: RunJournal
  ) -> Bool {
    let key = Key(journal: ObjectIdentifier(journal), file: file)
    return made.withLock { made in
      made[key].map { $0.stamp == stamp && $0.since <= instant } ?? false
    }
  }
}

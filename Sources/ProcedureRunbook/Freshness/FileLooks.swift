internal import ProcedurePrimitives

/// The states of the files of one journal, each looked up once.
///
/// All steps that are checked before anything runs share one. A step that is checked while others
/// run has its own, since files may have changed.
final class FileLooks: Sendable {
  /// The state of a file or folder.
  struct Seen: Sendable {
    let stamp: FileStamp
    let digest: Fingerprint
    /// The last change of the file; of a folder, the last change of anything in it.
    let changeTime: FileTime
  }

  enum Found: Sendable {
    case seen(Seen)
    /// The folder must be walked.
    case folder(FileStatus)
    /// It is larger than the limit.
    case notRead
    /// It exists, but its contents, or those of a file in it, cannot be read.
    case unreadable(FilePath)
    case problem(FileProblem)
  }

  private struct Tree {
    let found: Found
    let linkedFolders: [FilePath]
  }

  private struct State {
    var found: [Int32: Found] = [:]
    /// Folders in which every file counts.
    var trees: [Int32: Tree] = [:]
    /// Whether the version of that number is known to be the current contents of its file.
    var isCurrent: [Bool] = []
  }

  private let journal: RunJournal
  private let reader: FileReader
  private let state = Locked(State())

  /// Whether several steps use it, so that it is worth remembering which versions are current.
  private let isShared: Bool

  init(_ journal: RunJournal, _ reader: FileReader, isShared: Bool) {
    (self.journal, self.reader, self.isShared) = (journal, reader, isShared)
  }

  /// - Parameter limit: the size of the largest file that it reads.
  func look(at file: Int32, limit: Int) -> Found { look(at: [file], limit: limit)[0] }

  /// Looks up several files, with few locks.
  func look(at files: [Int32], limit: Int) -> [Found] {
    // 1. Take the results that are known.
    var found = state.withLock { state in files.map { state.found[$0] } }
    let unknown = files.indices.filter { index in
      switch found[index] {
      case .notRead?: limit > FileReader.small
      case nil: true
      default: false
      }
    }
    if unknown.isEmpty { return found.compactMap { $0 } }
    // 2. A file with an unchanged stamp need not be read.
    let known = journal.known(unknown.map { files[$0] })
    for (index, file) in zip(unknown, known) {
      do throws(FileProblem) {
        let status = try FileStatus(file.path)
        let stamp = status.stamp
        if status.kind == .file, file.stamp == stamp.all, let digest = file.digest {
          found[index] = .seen(
            Seen(stamp: stamp, digest: digest, changeTime: status.changeTime))
        } else {
          found[index] = self.found(files[index], file.path, status, limit)
        }
      } catch {
        found[index] = .problem(error)
      }
    }
    state.withLock { state in
      for index in unknown { state.found[files[index]] = found[index] }
    }
    return found.compactMap { $0 }
  }

  /// Returns the state if it was looked up before, without a new look.
  func known(_ file: Int32) -> Seen? {
    if case .seen(let seen)? = state.withLock({ $0.found[file] }) { seen } else { nil }
  }

  private func found(_ file: Int32, _ path: FilePath, _ status: FileStatus, _ limit: Int) -> Found {
    let digest: Fingerprint
    switch status.kind {
    case .folder: return .folder(status)
    case .other: digest = FileContents.ofOther
    case .link:
      guard let target = FileContents.ofLink(path) else { return .unreadable(path) }
      digest = target
    case .file:
      switch reader.digest(of: file, at: path, status, in: journal, limit: limit) {
      case .notRead: return .notRead
      case .unreadable: return .unreadable(path)
      case .digest(let contents): digest = contents
      }
    }
    // The times of a pipe or a device change with its use.
    let stamp =
      status.kind == .other ? FileStamp(all: digest, body: digest) : status.stamp
    return .seen(Seen(stamp: stamp, digest: digest, changeTime: status.changeTime))
  }

  // MARK: Folders

  /// Looks up all files in a folder.
  ///
  /// - Parameters:
  ///   - mayLeaveOut: whether something at or below a path may be left out.
  ///   - isLeftOut: whether to ignore a file or folder.
  ///   - note: called with each file, unless the folder was walked before.
  func walk(
    _ file: Int32, _ status: FileStatus, limit: Int, mayLeaveOut: (FilePath) -> Bool,
    isLeftOut: (FilePath) -> Bool, noting note: (FileStamp) -> Void = { _ in }
  ) -> Found {
    let path = journal.path(of: file)
    let isWhole = !mayLeaveOut(path)
    if isWhole, let known = state.withLock({ $0.trees[file] }),
      !known.linkedFolders.contains(where: mayLeaveOut)
    {
      guard case .notRead = known.found, limit > FileReader.small else {
        return known.found
      }
    }
    let tree: FileTree
    do throws(FileProblem) {
      tree = try FileTree(path, status, mayLeaveOut: mayLeaveOut, isLeftOut: isLeftOut)
    } catch {
      return .problem(error)
    }
    let found = found(tree, limit, noting: note)
    if isWhole, !tree.linkedFolders.contains(where: mayLeaveOut) {
      state.withLock {
        $0.trees[file] = Tree(found: found, linkedFolders: tree.linkedFolders)
      }
    }
    return found
  }

  private func found(
    _ tree: FileTree, _ limit: Int, noting note: (FileStamp) -> Void
  ) -> Found {
    var (digest, all, body) = (FileContents.ofKnownFolder, Fingerprint(), Fingerprint())
    var changeTime = FileTime(seconds: 0, nanoseconds: 0)
    let numbers = journal.numbers(of: tree.files.map(\.path))
    for (number, file) in zip(numbers, tree.files) {
      digest.add(file.name)
      let inner: Found =
        file.status.kind == .folder
        ? .seen(Self.knownFolder) : found(number, file.path, file.status, limit)
      switch inner {
      case .seen(let seen):
        digest.add(seen.digest.value)
        all.add(file.name)
        all.add(seen.stamp.all.value)
        body.add(file.name)
        body.add(seen.stamp.body.value)
        if file.status.kind != .other { changeTime = max(changeTime, seen.changeTime) }
        if file.status.kind == .file { note(seen.stamp) }
      case .folder, .notRead, .unreadable, .problem: return inner
      }
    }
    return .seen(
      Seen(stamp: FileStamp(all: all, body: body), digest: digest, changeTime: changeTime))
  }

  private static let knownFolder = Seen(
    stamp: FileStamp(all: FileContents.ofKnownFolder, body: FileContents.ofKnownFolder),
    digest: FileContents.ofKnownFolder, changeTime: FileTime(seconds: 0, nanoseconds: 0))

  // MARK: Versions

  enum Comparison {
    case same
    /// The first file that differs.
    case other(file: Int32, Found)
  }

  /// Compares versions with the current contents.
  ///
  /// - Parameter found: turns the state of a file into the one that counts; it walks folders.
  func compare(
    _ versions: VersionList, limit: Int, found: (_ file: Int32, Found) -> Found
  ) -> Comparison {
    let unknown =
      isShared
      ? state.withLock { state in
        versions.runs.flatMap { run in
          run.filter { $0 >= state.isCurrent.count || !state.isCurrent[Int($0)] }
        }
      } : Array(versions)
    if unknown.isEmpty { return .same }
    let contents = journal.files(of: VersionList(unknown))
    var current: [Int32] = []
    defer { if isShared { note(current) } }
    for ((version, content), look) in zip(
      zip(unknown, contents), look(at: contents.map(\.file), limit: limit))
    {
      let seen = found(content.file, look)
      guard case .seen(let now) = seen, now.digest == content.digest else {
        return .other(file: content.file, seen)
      }
      // A folder's contents differ for each reader, since its own outputs in there do not count.
      if case .folder = look { continue }
      current.append(version)
    }
    return .same
  }

  private func note(_ versions: [Int32]) {
    guard let last = versions.max() else { return }
    state.withLock { state in
      let missing = Int(last) + 1 - state.isCurrent.count
      if missing > 0 { state.isCurrent += repeatElement(false, count: missing) }
      for version in versions { state.isCurrent[Int(version)] = true }
    }
  }
}

internal import ProcedurePrimitives

/// What was found of files while nothing runs that changes them: each is looked at once, however many steps read it.
final class FoundFiles: Sendable {
  private let trees = Locked<[String: Result<FileTree, FileProblem>]>([:])

  /// - Parameter excluded: paths of what does not count in a folder.
  func tree(_ path: String, without excluded: Set<String>) throws(FileProblem) -> FileTree {
    // A folder without some of its files is that of one step.
    guard !excluded.contains(where: { $0.hasPrefix(path) }) else {
      return try FileTree(path, without: excluded)
    }
    if let known = trees.withLock({ $0[path] }) { return try known.get() }
    let tree = Result { () throws(FileProblem) in try FileTree(path) }
    trees.withLock { $0[path] = tree }
    return try tree.get()
  }
}

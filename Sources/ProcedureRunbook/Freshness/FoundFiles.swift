internal import ProcedurePrimitives

/// Looks at files that several steps read once each, while nothing runs that changes them.
final class FoundFiles: Sendable {
  /// The hashes of their paths: most files are read by one step, and need no memory.
  private let shared: Set<Int>
  private let trees = Locked<[String: Result<FileTree, FileProblem>]>([:])

  init(of steps: some Sequence<Step>) {
    var (seen, shared): (Set<Int>, Set<Int>) = ([], [])
    for step in steps {
      for input in step.inputs {
        let hash = step.path(of: input).hashValue
        if !seen.insert(hash).inserted { shared.insert(hash) }
      }
    }
    self.shared = shared
  }

  /// - Parameter excluded: paths of what does not count in a folder.
  func tree(
    _ path: String, without excluded: @autoclosure () -> Set<String>
  ) throws(FileProblem) -> FileTree {
    // A folder without some of its files is that of one step.
    guard !shared.isEmpty, shared.contains(path.hashValue),
      !excluded().contains(where: { $0.hasPrefix(path) })
    else { return try FileTree(path, without: excluded()) }
    if let known = trees.withLock({ $0[path] }) { return try known.get() }
    let tree = Result { () throws(FileProblem) in try FileTree(path) }
    trees.withLock { $0[path] = tree }
    return try tree.get()
  }
}

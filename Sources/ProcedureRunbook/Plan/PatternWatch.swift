internal import ProcedurePrimitives

/// A pattern of a plan with the files that it found when the plan was read.
///
/// A step may make files that its plan does not name. Then the pattern has not found them, and
/// later steps would work on a part of the files. This type notices that.
final class PatternWatch: Sendable, Equatable {
  /// The state that all steps with one pattern share.
  final class Files: Sendable {
    let pattern: FilePattern
    /// The shortest paths of files that it found, or that steps of the plan make.
    fileprivate let known: Set<FilePath>

    init(of pattern: FilePattern, known: Set<FilePath>) {
      (self.pattern, self.known) = (pattern, known)
    }
  }

  private let files: Files
  private let key: String
  private let step: Name
  /// The outputs of the step, which do not count as new.
  private let own: Set<FilePath>
  private let first = Locked<String??>(.none)

  init(_ files: Files, key: String, step: Name, makesItself own: Set<FilePath> = []) {
    (self.files, self.key, self.step, self.own) = (files, key, step, own)
  }

  static func == (first: PatternWatch, second: PatternWatch) -> Bool { first === second }

  /// Whether a file is an input because of this pattern.
  func findsInput(_ path: FilePath) -> Bool {
    key == "inputs" && files.pattern.value(in: path.shortest) != nil
  }

  /// Returns a sentence about files that were added since the plan was read; nil if there are none.
  ///
  /// - Parameter others: outputs of other steps with the same pattern.
  private func look(besides others: Set<FilePath> = []) -> String? {
    let pattern = files.pattern
    let new = pattern.matches().map(\.path).filter {
      let path = $0.shortest
      return !files.known.contains(path) && !own.contains(path) && !others.contains(path)
    }
    guard let first = new.first else { return nil }
    let others = new.count == 1 ? "" : " and \(new.count - 1) more"
    let name = pattern.relative(first).visible
    return "'\(key)' of '\(step.visible)', '\(pattern.text.visible)', now finds '\(name)'"
      + "\(others), not there when the plan was read"
  }

  /// Returns such sentences at the end of a run, one for each pattern, unless a step has failed
  /// because of it.
  static func news(of watches: some Sequence<PatternWatch>) -> [String] {
    var groups: [(first: PatternWatch, own: Set<FilePath>, isSaid: Bool)] = []
    var numbers: [ObjectIdentifier: Int] = [:]
    var seen: Set<ObjectIdentifier> = []
    // The steps of an `each` share a watch.
    for watch in watches where seen.insert(ObjectIdentifier(watch)).inserted {
      let isSaid = watch.first.withLock { $0 ?? nil } != nil
      if let number = numbers[ObjectIdentifier(watch.files)] {
        groups[number].own.formUnion(watch.own)
        groups[number].isSaid = groups[number].isSaid || isSaid
      } else {
        numbers[ObjectIdentifier(watch.files)] = groups.count
        groups.append((watch, watch.own, isSaid))
      }
    }
    return groups.lazy.filter { !$0.isSaid }.compactMap { $0.first.look(besides: $0.own) }
  }

  /// Looks when it is called first, which is when the first of these steps is ready; later calls
  /// return the same.
  func lookOnce() -> String? {
    if let known = first.withLock({ $0 }) { return known }
    let found = look()
    first.withLock { $0 = .some(found) }
    return found
  }
}

internal import ProcedurePrimitives

/// A pattern of a plan with the files that it had when the plan was read.
///
/// A step may make files that its plan does not name. Then the pattern has not found them, and what comes after would
/// be done for a part of the files: this notices that.
final class PatternWatch: Sendable, Equatable {
  /// What steps with one pattern share.
  final class Files: Sendable {
    let pattern: FilePattern
    /// Found, or to be made by steps of the plan: their shortest paths.
    fileprivate let known: Set<FilePath>

    init(of pattern: FilePattern, known: Set<FilePath>) {
      (self.pattern, self.known) = (pattern, known)
    }
  }

  private let files: Files
  private let key: String
  private let step: Name
  /// It is not told of these.
  private let own: Set<FilePath>
  private let first = Locked<String??>(.none)

  init(_ files: Files, key: String, step: Name, makesItself own: Set<FilePath> = []) {
    (self.files, self.key, self.step, self.own) = (files, key, step, own)
  }

  static func == (first: PatternWatch, second: PatternWatch) -> Bool { first === second }

  /// A sentence about the files that have come since the plan was read; nil when there are none.
  ///
  /// - Parameter others: what other steps make that have the same pattern.
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

  /// The same at the end of a run, for each pattern once, unless a step has failed because of it.
  static func news(of watches: some Sequence<PatternWatch>) -> [String] {
    var groups: [(first: PatternWatch, own: Set<FilePath>, isSaid: Bool)] = []
    var numbers: [ObjectIdentifier: Int] = [:]
    var seen: Set<ObjectIdentifier> = []
    // The steps of an `each` have the same watch.
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

  /// The same, looked for when this is called first: when the first step is ready whose files these are.
  func lookOnce() -> String? {
    if let known = first.withLock({ $0 }) { return known }
    let found = look()
    first.withLock { $0 = .some(found) }
    return found
  }
}

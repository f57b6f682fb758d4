/// A number that follows from the rows of a run, round by round.
indirect enum Quantity: Sendable {
  case value(RowName)
  /// How often the second goes into the first. Both may be of different contests.
  case ratio(RowName, to: RowName)
  /// To the best entry of a contestant in the same contest.
  case ratioToBest(RowName, of: Contestant)
  /// How much the first takes more than the second, of the same contest.
  case difference(RowName, RowName)

  /// The rows that it needs.
  var names: [RowName] {
    switch self {
    case .value(let name), .ratioToBest(let name, _): [name]
    case .ratio(let first, let second), .difference(let first, let second): [first, second]
    }
  }

  /// nil if a contest that it needs was not run.
  func samples(in results: [ContestResult]) -> [Double]? {
    func result(_ name: RowName) -> ContestResult? {
      results.first { $0.contest.name == name.contest }
    }
    func samples(_ name: RowName) -> [Double]? { result(name)?.samples(of: name) }
    switch self {
    case .value(let name): return samples(name)
    case .ratio(let first, let second):
      guard let first = samples(first), let second = samples(second) else { return nil }
      return zip(first, second).map { $0 / $1 }
    case .ratioToBest(let name, let contestant):
      guard let first = samples(name), let second = result(name)?.best(of: contestant, for: name)
      else { return nil }
      return zip(first, second).map { $0 / $1 }
    case .difference(let first, let second):
      guard let first = samples(first), let second = samples(second) else { return nil }
      return zip(first, second).map { $0 - $1 }
    }
  }
}

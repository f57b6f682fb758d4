/// Work with deadlines. There are a few for each program at most, so a scan of all is cheap.
struct DeadlineList {
  typealias Body = @Sendable () -> Void

  private var pending: [(instant: ContinuousClock.Instant, body: Body)] = []

  private(set) var next: ContinuousClock.Instant?

  mutating func add(_ body: @escaping Body, at instant: ContinuousClock.Instant) {
    pending.append((instant, body))
    next = next.map { min($0, instant) } ?? instant
  }

  /// The work that is due, in the order in which it was added.
  mutating func takeDue(at now: ContinuousClock.Instant) -> [Body] {
    guard let next, next <= now else { return [] }
    let due = pending.filter { $0.instant <= now }.map(\.body)
    pending.removeAll { $0.instant <= now }
    self.next = pending.map(\.instant).min()
    return due
  }
}

/// The state of every step: which ones run, and how the others ended.
///
/// A value that gets the time as an argument, so that it can be tested without a clock. How it
/// looks is in `Board+LiveLines.swift` and `Board+Table.swift`.
struct Board {
  enum State: Equatable {
    case waiting
    case running(since: ContinuousClock.Instant)
    case stopping(since: ContinuousClock.Instant)
    case ended(StepOutcome, Duration?)
  }

  /// Of the steps that may run.
  let names: [Name]
  /// How many others there are, which are up to date.
  let upToDateCount: Int
  let start: ContinuousClock.Instant
  private var states: [Name: State] = [:]
  /// In the order in which they started; few, compared with `names`.
  private(set) var running: [Name] = []
  private(set) var endedCount: Int
  private var successCount = 0
  /// Of those that took more than one.
  private(set) var attempts: [Name: Int] = [:]

  init(_ names: [Name], upToDateCount: Int = 0, start: ContinuousClock.Instant) {
    self.names = names
    self.upToDateCount = upToDateCount
    self.start = start
    endedCount = upToDateCount
  }

  /// How many steps there are in all.
  var count: Int { names.count + upToDateCount }

  mutating func started(_ name: Name, at instant: ContinuousClock.Instant) {
    states[name] = .running(since: instant)
    running.append(name)
  }

  mutating func stopping(_ name: Name) {
    if case .running(let since)? = states[name] { states[name] = .stopping(since: since) }
  }

  /// - Parameter duration: for how long it ran, if it did.
  mutating func ended(
    _ name: Name, _ outcome: StepOutcome, after duration: Duration?, attempts: Int = 1
  ) {
    if attempts > 1 { self.attempts[name] = attempts }
    states[name] = .ended(outcome, duration)
    if let position = running.firstIndex(of: name) { running.remove(at: position) }
    endedCount += 1
    if outcome.isSuccess { successCount += 1 }
  }

  func state(of name: Name) -> State { states[name] ?? .waiting }

  var allSucceeded: Bool { successCount == names.count }
}

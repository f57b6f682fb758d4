/// The state of every step: which ones run, and how the others ended.
///
/// It gets the time as an argument, so that tests need no clock. `Board+LiveLines.swift` and
/// `Board+Table.swift` draw it.
struct Board {
  enum State: Equatable {
    case waiting
    case running(since: ContinuousClock.Instant)
    case stopping(since: ContinuousClock.Instant)
    case ended(StepOutcome, Duration?)
  }

  /// The steps that may run.
  let names: [Name]
  /// The number of other steps, which are up to date.
  let upToDateCount: Int
  let start: ContinuousClock.Instant
  private var states: [Name: State] = [:]
  /// The running steps in the order of their starts; few, compared with `names`.
  private(set) var running: [Name] = []
  private(set) var endedCount: Int
  private var successCount = 0
  /// The attempts of each step that took more than one.
  private(set) var attempts: [Name: Int] = [:]

  init(_ names: [Name], upToDateCount: Int = 0, start: ContinuousClock.Instant) {
    self.names = names
    self.upToDateCount = upToDateCount
    self.start = start
    endedCount = upToDateCount
  }

  var count: Int { names.count + upToDateCount }

  mutating func started(_ name: Name, at instant: ContinuousClock.Instant) {
    states[name] = .running(since: instant)
    running.append(name)
  }

  mutating func stopping(_ name: Name) {
    if case .running(let since)? = states[name] { states[name] = .stopping(since: since) }
  }

  /// - Parameter duration: how long it ran, if it did.
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

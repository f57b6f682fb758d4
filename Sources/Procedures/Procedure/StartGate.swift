internal import ProcedurePrimitives

/// The waits of one procedure before it starts. Pure, like `Life`, which contains it.
///
/// It waits, in this order, for its dependencies, its conditions, and a slot. An addition meanwhile
/// begins that anew:
///
/// ```
/// unconditional ─ dependencies done ─▶ ready
/// due ─ dependencies done ─▶ queued ─ a worker ─▶ evaluating ─▶ satisfied ─▶ satisfiedAndReady
/// ```
///
/// Whenever it must go back, a new *attempt* begins. A worker that is on its way to evaluate or to
/// start the procedure, its note for the turn, and an evaluation in progress belong to the attempt
/// in which they began, and are ignored in a later one.
///
/// Events and stages: `+` begins a new attempt; `!` is noted for the turn; – changes nothing; ✕ is
/// an inconsistency and traps.
///
/// | event               | unconditional   | ready           | due    | queued       | evaluating   | satisfied         | satisfiedAndReady   |
/// |---------------------|-----------------|-----------------|--------|--------------|--------------|-------------------|---------------------|
/// | dependencyAdded     | unconditional + | unconditional + | due +  | due +        | due +        | due +             | due +               |
/// | pass¹               | ready           | –               | queued | –            | –            | satisfiedAndReady | –                   |
/// | conditionAdded      | due +           | due +           | –      | –            | –            | due +             | due +               |
/// | exclusionAdded      | –               | unconditional + | –      | –            | –            | –                 | satisfied +         |
/// | evaluate²           | –               | –               | –      | evaluating ! | –            | –                 | –                   |
/// | start²              | –               | ready !         | –      | –            | –            | –                 | satisfiedAndReady ! |
/// | answered            | –               | –               | –      | –            | evaluating ! | –                 | –                   |
/// | conditionBrings     | ✕               | ✕               | due +  | due +        | due +        | ✕                 | ✕                   |
/// | conditionsSatisfied | ✕               | ✕               | ✕      | ✕            | satisfied    | ✕                 | ✕                   |
///
/// ¹ when no dependency is missing. ² for the current attempt.
struct StartGate: Sendable {
  enum Stage: Sendable, CaseIterable {
    /// It has no conditions, and may wait for dependencies.
    case unconditional
    /// Only a slot is missing; there are no conditions.
    case ready
    /// Its conditions will be evaluated when all dependencies have finished.
    case due
    /// It waits for a worker that evaluates them.
    case queued
    case evaluating
    case satisfied
    /// Its conditions are satisfied, and only a slot is missing.
    case satisfiedAndReady
  }

  /// The number of dependencies that have not finished.
  private var dependencies: UInt32 = 0
  /// Twice the attempt, plus one if something is noted for the turn.
  private var attemptAndNote: UInt32 = 0
  private(set) var stage = Stage.unconditional

  /// How often it had to go back to waiting.
  var attempt: UInt32 { @inline(__always) get { attemptAndNote >> 1 } }

  /// Whether the turn must start the procedure (if ready) or evaluate its conditions (if
  /// evaluating).
  private(set) var isNoted: Bool {
    @inline(__always) get { attemptAndNote & 1 != 0 }
    @inline(__always) set { attemptAndNote = newValue ? attemptAndNote | 1 : attemptAndNote & ~1 }
  }

  var isWaitingForDependencies: Bool { dependencies > 0 }

  /// Whether only the dependency that is about to be counted is missing.
  var isLastDependency: Bool { dependencies <= 1 }

  var isReady: Bool {
    @inline(__always) get { stage == .ready || stage == .satisfiedAndReady }
  }

  // MARK: Dependencies

  /// Adds dependencies that have not finished.
  @inline(__always)
  mutating func wait(for dependencies: Int) {
    self.dependencies += UInt32(dependencies)
  }

  /// True if it was ready or queued, and must wait again.
  mutating func dependencyAdded() -> Bool {
    dependencies += 1
    let mustWait = isReady || stage == .queued
    switch stage {
    case .unconditional, .ready: goBack(to: .unconditional)
    // Conditions are evaluated when all dependencies have finished: all of them again.
    case .due, .queued, .evaluating, .satisfied, .satisfiedAndReady: goBack(to: .due)
    }
    return mustWait
  }

  /// A dependency is done, or was removed.
  @inline(__always)
  mutating func dependencyFinished() {
    requireConsistency(
      dependencies > 0, "Internal inconsistency: a dependency finished more than once")
    dependencies -= 1
  }

  /// Returns the new readiness, once, when the present wait is over.
  @inline(__always)
  mutating func pass() -> Readiness {
    guard dependencies == 0 else { return .waiting }
    switch stage {
    case .queued, .evaluating, .ready, .satisfiedAndReady:
      return .waiting
    case .due:
      stage = .queued
      return .evaluate
    case .unconditional:
      stage = .ready
      return .start
    case .satisfied:
      stage = .satisfiedAndReady
      return .start
    }
  }

  private mutating func goBack(to stage: Stage) {
    // This clears the note, and adds one to the attempt.
    attemptAndNote = (attemptAndNote | 1) &+ 1
    self.stage = stage
  }

  // MARK: Conditions

  /// True if it was ready, and must wait again.
  mutating func conditionAdded() -> Bool {
    let mustWait = isReady
    switch stage {
    case .due, .queued, .evaluating: break
    case .unconditional, .ready, .satisfied, .satisfiedAndReady: goBack(to: .due)
    }
    return mustWait
  }

  /// A condition was added that needs no evaluation, and changes its categories. True if it was
  /// ready, and must become so again.
  mutating func exclusionAdded() -> Bool {
    guard isReady else { return false }
    goBack(to: stage == .ready ? .unconditional : .satisfied)
    return true
  }

  /// A worker is available to evaluate its conditions. False if it comes for an earlier attempt.
  mutating func evaluate(_ attempt: UInt32) -> Bool {
    guard stage == .queued, attempt == self.attempt else { return false }
    stage = .evaluating
    isNoted = true
    return true
  }

  /// A condition that was asked asynchronously has answered. False if none is awaited any more.
  mutating func answered() -> Bool {
    guard stage == .evaluating else { return false }
    isNoted = true
    return true
  }

  /// The turn evaluates the conditions that are due.
  mutating func beginEvaluating() { isNoted = false }

  /// The next condition brings procedures that must finish before it is evaluated, even if
  /// something else was added meanwhile. True if it was queued, and must wait again.
  mutating func conditionBrings(_ count: Int) -> Bool {
    let mustWait = stage == .queued
    switch stage {
    case .due, .queued, .evaluating: goBack(to: .due)
    case .unconditional, .ready, .satisfied, .satisfiedAndReady:
      stopBecauseOfInconsistency("Internal inconsistency: what is not evaluated brings procedures")
    }
    wait(for: count)
    return mustWait
  }

  mutating func conditionsSatisfied() {
    requireConsistency(
      stage == .evaluating, "Internal inconsistency: conditions satisfied out of turn")
    stage = .satisfied
    isNoted = false
  }

  // MARK: The start

  /// A worker has taken it, with a slot. False if it comes for an earlier attempt.
  @inline(__always)
  mutating func start(_ attempt: UInt32) -> Bool {
    guard isReady, attempt == self.attempt else { return false }
    isNoted = true
    return true
  }

  /// The turn's step for a procedure that waits.
  enum Step: Sendable {
    case evaluate
    case start
  }

  @inline(__always)
  mutating func takeStep() -> Step? {
    guard isNoted else { return nil }
    isNoted = false
    return stage == .evaluating ? .evaluate : .start
  }
}

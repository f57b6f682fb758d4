internal import ProcedurePrimitives

/// The waits of one procedure before it starts. Pure, like the life that it belongs to.
///
/// It waits, in this order, for its dependencies, then for its conditions, then for a slot; an addition
/// meanwhile begins that anew:
///
/// ```
/// unconditional ─ dependencies done ─▶ ready
/// due ─ dependencies done ─▶ queued ─ a worker ─▶ evaluating ─▶ satisfied ─▶ satisfiedAndReady
/// ```
///
/// Each time it must go back a new *attempt* begins. A worker that is on its way to evaluate or to start the
/// procedure, its note for the turn, and an evaluation that goes on, belong to the attempt they began in,
/// and come to nothing in a later one.
///
/// Events and stages; `+` begins a new attempt, `!` is noted for the turn, – changes nothing, ✕ is an inconsistency
/// and traps:
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
    /// Nothing but a slot is missing; there are no conditions.
    case ready
    /// Its conditions are to be evaluated when all dependencies have finished.
    case due
    /// It waits for a worker that evaluates them.
    case queued
    case evaluating
    case satisfied
    /// Its conditions are satisfied, and nothing but a slot is missing.
    case satisfiedAndReady
  }

  /// How many dependencies have not finished.
  private var dependencies: UInt32 = 0
  /// Twice the attempt, and one if something is noted for the turn.
  private var attemptAndNote: UInt32 = 0
  private(set) var stage = Stage.unconditional

  /// How often it had to go back to waiting.
  var attempt: UInt32 { @inline(__always) get { attemptAndNote >> 1 } }

  /// Whether the turn is to start the procedure, or to evaluate its conditions: ready, or evaluating.
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

  /// Those that it has when it is enqueued.
  @inline(__always)
  mutating func wait(for dependencies: Int) {
    self.dependencies += UInt32(dependencies)
  }

  /// True if it had come further, and must wait again.
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

  /// Says, once, when it can go on to the next thing it waits for.
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
    // The note is gone.
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

  /// A condition was added that needs no evaluating, and changes its categories. True if
  /// it was ready, and must be so anew.
  mutating func exclusionAdded() -> Bool {
    guard isReady else { return false }
    goBack(to: stage == .ready ? .unconditional : .satisfied)
    return true
  }

  /// A worker has time to evaluate its conditions. False if it comes for an earlier attempt.
  mutating func evaluate(_ attempt: UInt32) -> Bool {
    guard stage == .queued, attempt == self.attempt else { return false }
    stage = .evaluating
    isNoted = true
    return true
  }

  /// A condition has answered that was asked asynchronously. False if none is asked any more.
  mutating func answered() -> Bool {
    guard stage == .evaluating else { return false }
    isNoted = true
    return true
  }

  /// The turn evaluates whatever is to be evaluated now.
  mutating func beginEvaluating() { isNoted = false }

  /// The next condition brings procedures that must finish before it is evaluated, also if
  /// something else was added meanwhile. True if it had come further, and must wait again.
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

  /// How the turn treats a procedure that waits.
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

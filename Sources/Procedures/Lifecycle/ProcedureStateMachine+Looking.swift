/// Questions about a procedure's life, under its lock.
extension ProcedureStateMachine {
  var isCancelled: Bool { status.isCancelled }
  var isFailed: Bool { status.isFailed }
  var isGroup: Bool { progress != .notAGroup }

  // MARK: Before the start

  /// The fate of a dependency or condition that is added now.
  enum PrerequisiteAnswer: Sendable {
    case accepted
    /// It was cancelled, and waits for nothing any more.
    case pointless
    /// It has started, so that the order asked for is broken already.
    case tooLate
  }

  /// Whether dependencies and conditions can still be added: not since it started.
  var prerequisiteAnswer: PrerequisiteAnswer {
    if isCancelled { return .pointless }
    return state <= .pending ? .accepted : .tooLate
  }

  /// Whether it waits to start, and may still.
  var mayStart: Bool { @inline(__always) get { state == .pending && !isCancelled } }

  /// Which attempt to start it is in.
  var attempt: UInt32 { gate.attempt }

  /// Whether no other dependency than the one that is about to be counted is missing.
  var isLastDependency: Bool { gate.isLastDependency }

  /// Whether its conditions are being evaluated.
  var isEvaluating: Bool { mayStart && gate.stage == .evaluating }

  /// Whether the answer of a condition that was asked in that attempt still counts.
  func isEvaluating(_ attempt: UInt32) -> Bool { isEvaluating && attempt == gate.attempt }

  var isWaitingForDependencies: Bool { state <= .pending && gate.isWaitingForDependencies }

  // MARK: The turn

  /// Whether `takeTurn` would take it.
  var isTurnFree: Bool { !turn.isHeld && !cancel.isDue }

  /// Whether it has not started, and no code of the user's runs in its turn: what it begins with may change.
  var mayStillTake: Bool { state <= .pending && isTurnFree && !isCancelled }

  /// Whether a thread has its turn, or is about to: it is not kept until something happens elsewhere.
  var isInTurn: Bool { turn.isHeld && !hold.isAwaited && hearing != .awaited }

  // MARK: Others

  /// True if the observer missed an event, which it gets in a step of its own.
  var mustReplay: Bool { cancel == .delivered || state == .finished }

  /// The event that an observer holds back, and nothing goes on without.
  var awaitedHold: HoldableEvent? { hold.isAwaited ? hold.event : nil }

  /// Whether the group must be asked, and has not been.
  var mustAskGroup: Bool { hearing == .due }

  /// Whether nothing but children keeps a group from its end.
  var isSettling: Bool { progress == .settling }
}

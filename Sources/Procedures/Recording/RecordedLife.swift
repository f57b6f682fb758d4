/// How far a procedure is, as a record needs it: two that are equal need no note.
struct RecordedLife: Sendable, Equatable {
  /// What a pending procedure waits for, in this order, and what comes then.
  enum Stage: UInt8, Sendable {
    case dependencies
    /// A worker that evaluates its conditions.
    case evaluation
    /// The answers of its conditions.
    case conditions
    case ready
    /// It was cancelled before it started.
    case ending
    case started
    case executing
    case finishing
    case finished
  }

  var stage: Stage
  var isCancelled: Bool
  /// The event that observers keep back, while nothing goes on without it.
  var held: HoldableEvent?
}

extension ProcedureStateMachine {
  var recordedLife: RecordedLife {
    RecordedLife(stage: recordedStage, isCancelled: isCancelled, held: awaitedHold)
  }

  private var recordedStage: RecordedLife.Stage {
    switch state {
    case .initialized, .pending:
      if isCancelled { return .ending }
      if gate.isWaitingForDependencies { return .dependencies }
      switch gate.stage {
      case .queued: return .evaluation
      case .due, .evaluating: return .conditions
      case .unconditional, .ready, .satisfied, .satisfiedAndReady: return .ready
      }
    case .started: return .started
    case .executing: return .executing
    case .finishing: return .finishing
    case .finished: return isRetired ? .finished : .finishing
    }
  }
}

/// How far a procedure is, as a record needs it.
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

    /// Whether only its list keeps it from going on.
    var isInList: Bool { self == .evaluation || self == .ready }
  }

  var stage = Stage.dependencies
  var isCancelled = false
  /// The event that observers keep back, while nothing goes on without it.
  var held: HoldableEvent?

  /// Whether there is something to note. Nothing is waited for between the end of `execute()` and the finish.
  @inline(__always)
  func isNews(after last: RecordedLife) -> Bool {
    if stage == .finishing, last.stage == .executing {
      return held != last.held || isCancelled != last.isCancelled
    }
    return self != last
  }

  @inline(__always)
  static func == (left: Self, right: Self) -> Bool {
    left.stage == right.stage && left.isCancelled == right.isCancelled && left.held == right.held
  }
}

extension ProcedureStateMachine {
  @inline(__always)
  var recordedLife: RecordedLife {
    RecordedLife(stage: recordedStage, isCancelled: isCancelled, held: awaitedHold)
  }

  @inline(__always)
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

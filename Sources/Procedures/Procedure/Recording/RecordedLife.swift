/// The progress of a procedure, as a record needs it.
struct RecordedLife: Sendable, Equatable {
  /// The waits of a pending procedure, in this order, and the stages after them.
  enum Stage: UInt8, Sendable {
    case dependencies
    /// It waits for a worker that evaluates its conditions.
    case evaluation
    /// It waits for the answers of its conditions.
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

  /// Four bits for the stage, one for the cancel, and two for the held event: each procedure has a
  /// byte for them.
  private var bits: UInt8

  @inline(__always)
  init(stage: Stage = .dependencies, isCancelled: Bool = false, held: HoldableEvent? = nil) {
    let hold: UInt8 =
      switch held {
      case nil: 0
      case .execute: 32
      case .finish: 64
      }
    bits = stage.rawValue | (isCancelled ? 16 : 0) | hold
  }

  var stage: Stage {
    @inline(__always) get { Stage(rawValue: bits & 15) ?? .dependencies }
  }

  var isCancelled: Bool { @inline(__always) get { bits & 16 != 0 } }

  /// The event that observers keep back while the turn waits for it.
  var held: HoldableEvent? { bits & 32 != 0 ? .execute : bits & 64 != 0 ? .finish : nil }

  /// Whether there is something to note. Nothing is awaited between the end of `execute()` and the
  /// finish.
  @inline(__always)
  func isNews(after last: RecordedLife) -> Bool {
    if stage == .finishing, last.stage == .executing {
      return self != RecordedLife(stage: .finishing, isCancelled: last.isCancelled)
        || last.held != nil
    }
    return self != last
  }
}

extension Life {
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

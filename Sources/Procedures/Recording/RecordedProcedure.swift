/// What is known of one procedure: instants in nanoseconds since the recording began, and where its
/// waiting went. Names, types and errors are kept as they are, and become text when a timeline is written.
package struct RecordedProcedure: Sendable {
  /// What a pending procedure waits for, in this order.
  enum Gate: UInt8, Sendable {
    case dependencies
    case conditions
    case ready
    /// It has started, or was cancelled.
    case passed
  }

  package enum End: UInt8, Sendable {
    case succeeded
    case failed
    case cancelled
  }

  /// Instead of an instant that has not come.
  package static let never = Int64.min

  package let id: UInt64
  package let parent: UInt64
  package let root: Int
  package let type: Procedure.Type
  package let isGroup: Bool

  package let enqueued: Int64
  package internal(set) var ready = never
  package internal(set) var started = never
  package internal(set) var executing = never
  package internal(set) var finished = never
  package internal(set) var cancelled = never

  var gate: Gate
  var since: Int64
  var heldSince = never
  /// Which event is held, while one is.
  var heldEvent: ProcedureStateMachine.Holdable?

  /// For a dependency; for what is to be added or a barrier of the queue.
  package internal(set) var dependencyWait: Int64 = 0
  package internal(set) var orderWait: Int64 = 0
  /// For the answers of conditions, in the order in which they were asked; nil where none was waited for.
  package internal(set) var conditionWaits: [ConditionWait]?
  /// For an observer that held WillExecute back, or WillFinish.
  package internal(set) var heldExecuteWait: Int64 = 0
  package internal(set) var heldFinishWait: Int64 = 0
  /// Between ready and started.
  package internal(set) var readyWait = HindranceTimes()

  /// In the order in which they ended.
  package internal(set) var dependencies: [UInt64] = []
  /// What of the time between ready and started was spent in line for an exclusion; nil if nothing was.
  package internal(set) var exclusion: RecordedExclusion?

  package internal(set) var name: String?
  package internal(set) var errors: [any Error] = []
  package internal(set) var reason: CancellationReason?
  package internal(set) var end: End?

  init(
    id: UInt64, in recording: ListRecording, type: Procedure.Type, isGroup: Bool, gate: Gate,
    at sample: (now: Int64, times: HindranceTimes)
  ) {
    self.id = id
    parent = recording.parent
    root = recording.root
    self.type = type
    self.isGroup = isGroup
    enqueued = sample.now
    since = sample.now
    self.gate = gate
    if gate == .ready { begin(.ready, at: sample) }
  }

  /// The procedure has come to another gate, or has passed the last.
  ///
  /// - Parameter isOrdered: whether the last thing it waited for was a dependency.
  mutating func pass(
    to next: Gate, at sample: (now: Int64, times: HindranceTimes), isDependency: Bool = false
  ) {
    let passed = sample.now - since
    switch gate {
    case .dependencies: if isDependency { dependencyWait += passed } else { orderWait += passed }
    case .conditions: endCondition(after: passed)
    case .ready: readyWait += sample.times
    case .passed: return
    }
    begin(next, at: sample)
  }

  /// A condition is asked that does not answer at once.
  mutating func ask(_ condition: String, at now: Int64) {
    guard gate == .conditions else { return }
    endCondition(after: now - since)
    conditionWaits = (conditionWaits ?? []) + [ConditionWait(name: condition, nanoseconds: nil)]
    since = now
  }

  /// The wait for the last one that was asked is over, or that before the first was.
  private mutating func endCondition(after passed: Int64) {
    if let waits = conditionWaits, waits[waits.count - 1].nanoseconds == nil {
      conditionWaits?[waits.count - 1].nanoseconds = passed
    } else if passed != 0 {
      conditionWaits = (conditionWaits ?? []) + [ConditionWait(name: nil, nanoseconds: passed)]
    }
  }

  /// The event that was held is held no longer, or is to be added to what is known so far.
  mutating func endHold(at now: Int64) {
    guard heldSince != Self.never else { return }
    if heldEvent == .execute {
      heldExecuteWait += now - heldSince
    } else {
      heldFinishWait += now - heldSince
    }
    heldSince = Self.never
  }

  private mutating func begin(_ gate: Gate, at sample: (now: Int64, times: HindranceTimes)) {
    self.gate = gate
    since = sample.now
    guard gate == .ready else { return }
    ready = sample.now
    readyWait -= sample.times
  }
}

/// How long a procedure waited for the answer of one condition.
package struct ConditionWait: Sendable {
  /// Nil before the first that did not answer at once.
  package let name: String?
  /// Nil while it is waited for.
  package internal(set) var nanoseconds: Int64?
}

/// Where a procedure waited in line for what others excluded it from.
///
/// Guarded by the lock of its list, until the procedure has finished.
package final class RecordedExclusion: @unchecked Sendable {
  /// How long each hindrance was there meanwhile: together, how long it was in line.
  package internal(set) var times = HindranceTimes()
  package internal(set) var category: ExclusionCategory?
  /// Whose finish made room for it; 0 if that is not recorded.
  package internal(set) var holder: UInt64 = 0
  var isInLine = false

  /// As if it left the line now.
  func ended(at times: HindranceTimes) -> RecordedExclusion {
    let ended = RecordedExclusion()
    (ended.times, ended.category, ended.holder) = (self.times, category, holder)
    if isInLine { ended.times += times }
    return ended
  }
}

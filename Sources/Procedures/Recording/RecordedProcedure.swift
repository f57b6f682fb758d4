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
  package let type: AnyClass
  private let rootIndex: Int32
  package let isGroup: Bool
  var gate: Gate
  package internal(set) var end: End?

  package let enqueued: Int64
  package internal(set) var ready = never
  package internal(set) var started = never
  package internal(set) var executing = never
  package internal(set) var finished = never
  package internal(set) var cancelled = never
  private var since: Int64

  /// For a dependency; for what is to be added or a barrier of the queue.
  package private(set) var dependencyWait: Int64 = 0
  package private(set) var orderWait: Int64 = 0
  /// Between ready and started.
  package private(set) var readyWait = HindranceTimes()

  private var rarities: Rarities?

  /// The place of its queue, or outermost group, among those that are recorded.
  package var root: Int { Int(rootIndex) }

  init(
    id: UInt64, in recording: ListRecording, type: AnyClass, isGroup: Bool, gate: Gate,
    at sample: RecordSample
  ) {
    self.id = id
    parent = recording.parent
    rootIndex = Int32(truncatingIfNeeded: recording.root)
    self.type = type
    self.isGroup = isGroup
    enqueued = sample.now
    since = sample.now
    self.gate = gate
    if gate == .ready { begin(.ready, at: sample) }
  }

  /// The procedure has come to another gate, or has passed the last.
  ///
  /// - Parameter isDependency: whether the last thing it waited for was a dependency.
  mutating func pass(
    to next: Gate, at sample: RecordSample, isDependency: Bool = false
  ) {
    let passed = sample.now - since
    switch gate {
    case .dependencies: if isDependency { dependencyWait += passed } else { orderWait += passed }
    case .conditions: endCondition(after: passed)
    case .ready:
      readyWait += sample.times
      readyWait.settle()
    case .passed: return
    }
    begin(next, at: sample)
  }

  private mutating func begin(_ gate: Gate, at sample: RecordSample) {
    self.gate = gate
    since = sample.now
    guard gate == .ready else { return }
    ready = sample.now
    readyWait -= sample.times
  }
}

// MARK: What few have

extension RecordedProcedure {
  /// Made with the first of it: a record is written for each procedure, and most have none.
  fileprivate final class Rarities: @unchecked Sendable {
    // Changes while one record refers to it, which is guarded.
    @safe @exclusivity(unchecked) var values: RareValues

    init(_ values: RareValues) { self.values = values }
  }

  struct RareValues: Sendable {
    var heldSince = never
    /// Which event is held, while one is.
    var heldEvent: HoldableEvent?
    var heldExecuteWait: Int64 = 0
    var heldFinishWait: Int64 = 0
    var conditionWaits: [ConditionWait]?
    var dependencies: [UInt64] = []
    var exclusion: RecordedExclusion?
    var name: String?
    var errors: [any Error] = []
    var reason: CancellationReason?
  }

  /// For an observer that held WillExecute back.
  package var heldExecuteWait: Int64 { rarities?.values.heldExecuteWait ?? 0 }
  /// For an observer that held WillFinish back.
  package var heldFinishWait: Int64 { rarities?.values.heldFinishWait ?? 0 }
  /// For the answers of conditions, in the order in which they were asked; nil where none was waited for.
  package var conditionWaits: [ConditionWait]? { rarities?.values.conditionWaits }
  /// In the order in which they ended.
  package var dependencies: [UInt64] { rarities?.values.dependencies ?? [] }
  /// What of the time between ready and started was spent in line for an exclusion; nil if nothing was.
  package var exclusion: RecordedExclusion? { rarities?.values.exclusion }
  package var name: String? { rarities?.values.name }
  package var errors: [any Error] { rarities?.values.errors ?? [] }
  package var reason: CancellationReason? { rarities?.values.reason }

  /// Changes what few have. A copy that was made before keeps what it had.
  mutating func change(_ body: (inout RareValues) -> Void) {
    if rarities == nil || !isKnownUniquelyReferenced(&rarities!) {
      rarities = Rarities(rarities?.values ?? RareValues())
    }
    body(&rarities!.values)
  }

  /// A condition is asked that does not answer at once.
  mutating func ask(_ condition: String, at now: Int64) {
    guard gate == .conditions else { return }
    endCondition(after: now - since)
    change {
      $0.conditionWaits =
        ($0.conditionWaits ?? [])
        + [ConditionWait(name: condition, nanoseconds: nil)]
    }
    since = now
  }

  /// The wait for the last one that was asked is over, or that before the first was.
  private mutating func endCondition(after passed: Int64) {
    if let waits = conditionWaits, waits[waits.count - 1].nanoseconds == nil {
      change { $0.conditionWaits?[waits.count - 1].nanoseconds = passed }
    } else if passed != 0 {
      change {
        $0.conditionWaits =
          ($0.conditionWaits ?? [])
          + [ConditionWait(name: nil, nanoseconds: passed)]
      }
    }
  }

  mutating func beginHold(of event: HoldableEvent?, at now: Int64) {
    change { ($0.heldSince, $0.heldEvent) = (now, event) }
  }

  /// The event that was held is held no longer, or is to be added to what is known so far.
  @inline(__always)
  mutating func endHold(at now: Int64) {
    if rarities != nil { endRareHold(at: now) }
  }

  @inline(never)
  private mutating func endRareHold(at now: Int64) {
    guard rarities?.values.heldSince != Self.never else { return }
    change { values in
      if values.heldEvent == .execute {
        values.heldExecuteWait += now - values.heldSince
      } else {
        values.heldFinishWait += now - values.heldSince
      }
      values.heldSince = Self.never
    }
  }
}

/// How long a procedure waited for the answer of one condition.
package struct ConditionWait: Sendable {
  /// Nil before the first that did not answer at once.
  package let name: String?
  /// Nil while it is waited for.
  package internal(set) var nanoseconds: Int64?
}

extension ProcedureStateMachine {
  /// What it waits for.
  var recordedGate: RecordedProcedure.Gate {
    if state != .pending || isCancelled { return .passed }
    if isWaitingForDependencies { return .dependencies }
    return gate.isReady ? .ready : .conditions
  }
}

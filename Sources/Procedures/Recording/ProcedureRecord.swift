internal import ProcedurePrimitives

/// The record of one procedure, from when it is enqueued.
///
/// `content` is guarded by the procedure's lock, except what belongs to its exclusion, which is guarded
/// by that of its list. Once the procedure has finished it does not change.
final class ProcedureRecord: @unchecked Sendable {
  /// Whether there ever was a timeline: without one a dependent need not ask for the record.
  static let isUsed = AtomicByte(0)

  let recording: ListRecording
  @safe @exclusivity(unchecked) fileprivate(set) var content: RecordedProcedure
  /// Guarded by the lock of the list. Made when it waits in line for the first time.
  @safe @exclusivity(unchecked) private var exclusion: RecordedExclusion?

  init(_ content: RecordedProcedure, in recording: ListRecording) {
    self.content = content
    self.recording = recording
  }

  var id: UInt64 { content.id }

  // MARK: Under the procedure's lock

  /// It has come some way before it was recorded.
  func noteProgress(of machine: borrowing ProcedureStateMachine, at now: Int64) {
    if machine.isCancelled { content.cancelled = now }
    if machine.state > .pending { content.started = now }
    if machine.state > .started { content.executing = now }
  }

  /// Something that it waits for has changed.
  ///
  /// - Parameter dependency: the record of a dependency that has just ended.
  func note(_ machine: borrowing ProcedureStateMachine, after dependency: RecordID? = nil) {
    if let id = dependency?.id { content.dependencies.append(id) }
    guard content.gate != .passed else { return }
    let gate = machine.gate
    guard gate != content.gate else { return }
    content.pass(to: gate, at: recording.sample(), isDependency: dependency != nil)
  }

  /// A condition is asked that does not answer at once.
  func noteCondition(_ name: String) {
    if content.gate == .conditions { content.ask(name, at: recording.clock.now) }
  }

  /// It was cancelled.
  func noteCancel() {
    let sample = recording.sample()
    content.endHold(at: sample.now)
    if content.cancelled == RecordedProcedure.never { content.cancelled = sample.now }
    content.pass(to: .passed, at: sample)
  }

  /// A step of its turn is about to be carried out: one that starts it, holds it, or comes after that.
  ///
  /// - Parameters:
  ///   - step: which one.
  ///   - held: the event that keeps it, if it is held.
  func note(_ step: ProcedureStateMachine.Step, holding held: ProcedureStateMachine.Holdable? = nil)
  {
    let sample = recording.sample()
    content.endHold(at: sample.now)
    switch step {
    case .willExecute, .announceChildren, .execute:
      if content.started == RecordedProcedure.never {
        content.pass(to: .passed, at: sample)
        content.started = sample.now
      }
      if step == .execute { content.executing = sample.now }
    case .waitForPendingEvents:
      content.heldSince = sample.now
      content.heldEvent = held
    default:
      break
    }
  }

  /// It is about to leave its list.
  func noteEnd(of core: borrowing ProcedureCore, _ extras: ProcedureExtras?) {
    content.finished = recording.clock.now
    content.endHold(at: content.finished)
    content.name = extras?.name
    if core.machine.isFailed { content.errors = core.machine.errors }
    if core.machine.isCancelled {
      content.end = .cancelled
      content.reason = core.cancelReason
    } else {
      content.end = !core.machine.isFailed ? .succeeded : .failed
    }
  }

  /// What is known so far, of one that has not finished. Called under the list's lock as well.
  func current(of core: borrowing ProcedureCore) -> RecordedProcedure {
    var current = content
    let sample = recording.sample()
    current.pass(to: .passed, at: sample)
    current.endHold(at: sample.now)
    if let exclusion { current.exclusion = exclusion.ended(at: sample.times) }
    current.name = core.extras?.name
    current.errors = core.machine.errors
    current.reason = core.cancelReason
    return current
  }

  // MARK: Under the lock of the list

  /// It had a slot at hand, and waits in line for what it excludes others from.
  func enterLine(of request: ExclusionRequest) {
    let exclusion = exclusion ?? RecordedExclusion()
    self.exclusion = exclusion
    guard !exclusion.isInLine else { return }
    exclusion.isInLine = true
    exclusion.category = ExclusionTable.shared.withLock { _ in request.categoryAwaited }
    exclusion.times -= recording.sample().times
  }

  /// It goes on, or waits for something else.
  ///
  /// - Parameter holder: the record of the procedure that made room for it; 0 if that is not known.
  func leaveLine(after holder: UInt64) {
    guard let exclusion, exclusion.isInLine else { return }
    exclusion.isInLine = false
    exclusion.times += recording.sample().times
    if holder != 0 { exclusion.holder = holder }
  }

  // MARK: With no lock held

  /// The procedure has finished. Called in its last turn, before its dependents and waiters hear of that.
  func publish(_ procedure: Procedure) {
    if let exclusion { content.exclusion = exclusion }
    if content.name == nil { content.name = procedure.derivedName }
    // Without counting references to what this one holds.
    unsafe Unmanaged.passUnretained(recording)._withUnsafeGuaranteedRef { recording in
      unsafe Unmanaged.passUnretained(recording.store)._withUnsafeGuaranteedRef { $0.append(self) }
    }
  }
}

/// The record of a procedure at its last step, without counting a reference: the procedure keeps it.
@safe struct FinishedRecord: Sendable {
  private let reference: Unmanaged<ProcedureRecord>

  init(_ record: ProcedureRecord) {
    unsafe reference = Unmanaged.passUnretained(record)
  }

  func publish(_ procedure: Procedure) {
    unsafe reference._withUnsafeGuaranteedRef { $0.publish(procedure) }
  }
}

/// The record of a procedure, if it has one.
struct RecordID: Sendable {
  let id: UInt64?
}

extension ExclusionRequest {
  /// That of the line it stands in. Guarded by the lock of the table.
  fileprivate var categoryAwaited: ExclusionCategory? {
    if case .waiting(let line) = status { line.level.category } else { nil }
  }
}

internal import ProcedurePrimitives

/// The record of one procedure, from when it is enqueued: a place in a block of the store's memory.
///
/// One owner hands it on, without counting: the procedure, until its last turn, and then the store. What is
/// in it is guarded by the procedure's lock, and does not change once the procedure has finished.
@safe struct ProcedureRecord: @unchecked Sendable {
  /// Whether there ever was a timeline: without one a dependent need not ask for the record.
  static let isUsed = AtomicByte(0)

  @safe struct Content: Sendable {
    // That of the procedure's list, which keeps it as long as the procedure is its member.
    fileprivate let recording: Unmanaged<ListRecording>
    fileprivate var exclusion: ExclusionWait?
    var content: RecordedProcedure
  }

  private let place: UnsafeMutablePointer<Content>

  /// - Parameter bits: of a record that the caller owns.
  @inline(__always)
  init?(bits: UInt) {
    guard let place = unsafe UnsafeMutablePointer<Content>(bitPattern: bits) else { return nil }
    unsafe self.place = place
  }

  /// Begins one, in memory that the store has given for it.
  @inline(__always)
  init(
    at place: UnsafeMutablePointer<Content>, in recording: ListRecording,
    _ content: RecordedProcedure
  ) {
    unsafe place.initialize(
      to: Content(recording: .passUnretained(recording), content: content))
    unsafe self.place = place
  }

  /// The address, whose lowest bits are zero.
  var bits: UInt { @inline(__always) get { UInt(bitPattern: unsafe place) } }

  var number: UInt64 { unsafe place.pointee.content.id }

  var id: RecordID { withRecording { RecordID(number, in: $0.store) } }

  var content: RecordedProcedure {
    @inline(__always) get { unsafe place.pointee.content }
    @inline(__always) nonmutating _modify { yield unsafe &place.pointee.content }
  }

  /// Called by its owner, with no lock held: this may be the last reference to a user's error.
  func release() { unsafe RecordBlock.release(place) }

  /// Calls with the recording, without counting a reference.
  @inline(__always)
  private func withRecording<Result>(_ body: (ListRecording) -> Result) -> Result {
    unsafe place.pointee.recording._withUnsafeGuaranteedRef(body)
  }

  @inline(__always)
  private func sample() -> RecordSample { withRecording { $0.sample() } }
  private var now: Int64 { withRecording { $0.clock.now } }

  // MARK: Under the procedure's lock

  func isIn(_ store: RecordStore) -> Bool { withRecording { $0.store === store } }

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
    if let number = withRecording({ dependency?.number(in: $0.store) }) {
      content.change { $0.dependencies.append(number) }
    }
    guard content.gate != .passed else { return }
    let gate = machine.recordedGate
    guard gate != content.gate else { return }
    content.pass(to: gate, at: sample(), isDependency: dependency != nil)
  }

  /// A condition is asked that does not answer at once.
  func noteCondition(_ name: String) {
    if content.gate == .conditions { content.ask(name, at: now) }
  }

  /// It was cancelled.
  ///
  /// - Parameter missesDependency: whether one had not finished.
  func noteCancel(missesDependency: Bool) {
    let sample = sample()
    content.endHold(at: sample.now)
    if content.cancelled == RecordedProcedure.never { content.cancelled = sample.now }
    content.pass(to: .passed, at: sample, isDependency: missesDependency)
  }

  /// A step of its turn is about to be carried out: one that starts it, holds it, or comes after that.
  ///
  /// - Parameters:
  ///   - step: which one.
  ///   - held: the event that keeps it, if it is held.
  func note(_ step: ProcedureStateMachine.Step, holding held: HoldableEvent? = nil) {
    let sample = sample()
    content.endHold(at: sample.now)
    switch step {
    case .event(.willExecute), .announceChildren, .execute:
      if content.started == RecordedProcedure.never {
        content.pass(to: .passed, at: sample)
        content.started = sample.now
      }
      if step == .execute { content.executing = sample.now }
    case .waitForPendingEvents:
      content.beginHold(of: held, at: sample.now)
    default:
      break
    }
  }

  /// It excludes others, and may have to wait in line for that.
  ///
  /// - Returns: where its request notes that.
  func expectExclusion() -> ExclusionWait {
    let wait = withRecording { ExclusionWait(of: number, in: $0) }
    unsafe place.pointee.exclusion = wait
    return wait
  }

  /// It is about to leave its list.
  func noteEnd(_ end: RecordedProcedure.End) {
    content.finished = now
    content.endHold(at: content.finished)
    content.end = end
  }

  /// It has a name, errors, or a reason. Called under the list's lock as well if it may have waited in line.
  func noteEnd(name: String?, errors: [any Error], reason: CancellationReason?) {
    let exclusion = unsafe place.pointee.exclusion.take()?.end()?.inside(content.readyWait)
    content.change {
      ($0.name, $0.errors, $0.reason, $0.exclusion) = (name, errors, reason, exclusion)
    }
  }

  /// What is known so far, of one that has not finished. Called under the list's lock as well.
  func current(
    name: String?, errors: [any Error], reason: CancellationReason?, missesDependency: Bool
  ) -> RecordedProcedure {
    var current = content
    let sample = sample()
    current.pass(to: .passed, at: sample, isDependency: missesDependency)
    current.endHold(at: sample.now)
    let exclusion = unsafe place.pointee.exclusion?.soFar?.inside(current.readyWait)
    current.change { values in
      values.exclusion = exclusion
      (values.name, values.errors, values.reason) = (name, errors, reason)
    }
    return current
  }

  // MARK: With no lock held

  /// Puts it where the timeline finds it. Called by its owner in the procedure's last turn, before its
  /// dependents and waiters hear of its end.
  ///
  /// - Parameter derivedName: its name if the user has given it none; nil for that of its type.
  func publish(named derivedName: @autoclosure () -> String?) {
    if content.name == nil, let name = derivedName() { content.change { $0.name = name } }
    withRecording { recording in
      unsafe Unmanaged.passUnretained(recording.store)._withUnsafeGuaranteedRef { $0.append(self) }
    }
  }
}

/// What a procedure has of its record, in one word: the record, from when it is enqueued until its last
/// turn, and from then on the record's number, which those ask for that depended on it.
struct OwnRecord: Sendable {
  /// 0, or the bits of the record, or twice those of its identifier and one.
  private var bits: UInt = 0

  /// Whether the procedure is recorded, or was.
  var exists: Bool { bits != 0 }

  /// The record, if the procedure has not ended.
  @inline(__always)
  var open: ProcedureRecord? { bits & 1 == 0 ? ProcedureRecord(bits: bits) : nil }

  /// `.none` if there is none.
  var id: RecordID { open?.id ?? (exists ? RecordID(bits: UInt64(bits >> 1)) : .none) }

  mutating func begin(_ record: ProcedureRecord) { bits = record.bits }

  /// - Returns: the record, which the caller owns from here on, to publish it.
  mutating func end() -> ProcedureRecord? {
    guard let record = open else { return nil }
    bits = UInt(truncatingIfNeeded: record.id.bits << 1 | 1)
    return record
  }

  /// - Returns: the record, which the caller owns from here on, to release it.
  mutating func abandon() -> ProcedureRecord? {
    guard let record = open else { return nil }
    bits = 0
    return record
  }
}

/// The record of a procedure, in whatever store; or none.
struct RecordID: Sendable {
  static let none = RecordID(bits: 0)
  private static let numberBits = 47

  /// The mark of its store, and its number there.
  fileprivate let bits: UInt64

  fileprivate init(bits: UInt64) { self.bits = bits }

  init(_ number: UInt64, in store: RecordStore) {
    bits = UInt64(store.mark) << Self.numberBits | number
  }

  /// Its number, if it is in that store.
  func number(in store: RecordStore) -> UInt64? {
    let number = bits & (1 << Self.numberBits - 1)
    return number != 0 && bits >> Self.numberBits == store.mark ? number : nil
  }
}

internal import ProcedureExclusion
internal import ProcedurePrimitives

/// The record of one procedure, from its enqueue. It watches the procedure's life, and is the only
/// place that learns what the procedure does.
///
/// It changes under the procedure's lock. While the procedure is ready, its list changes it as
/// well: then it changes under both locks. Once the procedure has finished it no longer changes,
/// and the store has it.
final class ProcedureRecord: Attachment, @unchecked Sendable {
  /// Whether there ever was a timeline: without one, dependents need not read the record.
  static let isUsed = AtomicByte(0)

  let id: RecordID
  private let history: HindranceHistory

  private struct State: Sendable {
    /// Nil once the store has the record: records in the store must not keep the store.
    var store: RecordStore?
    var open: OpenRecord
  }

  /// The locks that are named above guard it. The core of the procedure, and its list, reach it.
  @safe @exclusivity(unchecked) private var state: State

  var store: RecordStore? { state.store }

  /// Begins a record, under the lock of the list.
  init(of type: AnyClass, isGroup: Bool, _ life: RecordedLife, in recording: ListRecording) {
    history = recording.history
    let number = recording.store.nextNumber()
    id = RecordID(number, in: recording.store)
    let sample = recording.history.sample()
    var open = OpenRecord(
      RecordedProcedure(id: number, in: recording, type: type, isGroup: isGroup, at: sample.now),
      at: sample)
    open.move(to: life, without: nil, at: sample)
    state = State(store: recording.store, open: open)
  }

  required init() {
    stopBecauseOfInconsistency("Internal inconsistency: a record is made by a list")
  }

  /// The whole record: read after the finish, or under both locks.
  var content: RecordedProcedure { state.open.content }

  var number: UInt64 { state.open.content.id }

  /// The life at the last note.
  var life: RecordedLife { state.open.life ?? RecordedLife() }

  /// Whether the procedure may still change it.
  var isOpen: Bool { state.open.content.end == nil }

  // MARK: As an attachment, under the lock of the procedure

  // Dependents read its number, and a procedure keeps its errors itself. A procedure that ends
  // without an entry, since its group refused it or was deallocated, gives up the record, which
  // keeps the whole store.
  override var afterFinish: Attachment? { isOpen ? nil : self }

  override func lifeDidChange(to life: RecordedLife, without missing: Procedure?) {
    // The list's times are guarded only by the list's lock.
    let isInList = state.open.isInList || life.stage.isInList
    let sample = isInList ? history.sample() : RecordSample(now: history.clock.now)
    state.open.move(to: life, without: missing, at: sample)
  }

  /// Notes a change, with the present time.
  func note(_ change: (inout OpenRecord, _ now: Int64) -> Void) {
    change(&state.open, history.clock.now)
  }

  /// The task of its asynchronous closure is about to begin.
  func beginSteps() -> RecordedSteps {
    let steps = RecordedSteps(by: history.clock)
    state.open.content.steps = steps
    return steps
  }

  /// It has finished.
  func noteEnd(
    _ end: RecordedProcedure.End, _ priority: ProcedurePriority, name: String? = nil,
    errors: [any Error] = [], reason: CancellationReason? = nil
  ) {
    state.open.content.end = end
    state.open.content.priority = priority
    state.open.content.steps?.noteOver()
    if end == .succeeded, name == nil, errors.isEmpty { return }
    (state.open.content.name, state.open.content.errors, state.open.content.reason) = (
      name, errors, reason
    )
  }

  /// The record so far, as if its wait ended now. Called under the lock of the list as well.
  func soFar(without missing: Procedure?) -> RecordedProcedure {
    if state.open.life?.stage == .finishing { state.open.content.steps?.noteOver() }
    var ended = state.open
    let sample = history.sample()
    ended.endWait(without: missing, at: sample)
    ended.endObserving(at: sample.now)
    ended.endWaitForBody(at: sample.now)
    return ended.content
  }

  // MARK: Notes of the list, under the list's lock only

  /// It had a slot available, and stands in line for a category.
  func enterLine(_ line: @autoclosure () -> RecordedLine) {
    guard state.open.isReady, state.open.line == nil else { return }
    state.open.enter(line(), at: history.sample())
  }

  /// It continues, or begins another wait.
  ///
  /// - Parameter holder: the record of the procedure that made room for it, if it is known.
  func leaveLine(after holder: RecordID = .none) {
    guard state.open.line != nil else { return }
    let number = holder.number(inStoreOf: id)
    state.open.leaveLine(after: number ?? 0, at: history.sample())
  }

  // MARK: With no lock held

  /// Puts it where the timeline finds it. Called in the procedure's last turn, before its
  /// dependents and waiters are notified.
  ///
  /// - Parameter derivedName: the name if the user has given none; nil for the name of its type.
  func publish(named derivedName: @autoclosure () -> String?) {
    if state.open.content.name == nil, let name = derivedName() { state.open.content.name = name }
    if let missing = state.open.missing.take() {
      state.open.content.nameLastDependency(EndedDependency(missing, for: self))
    }
    state.store.take()?.append(self)
  }
}

/// A record, and the wait in progress.
struct OpenRecord: Sendable {
  var content: RecordedProcedure
  /// Nil before the first note.
  private(set) var life: RecordedLife?
  /// Whether it may stand in line. Separate from `life`, which changes without the lock of the
  /// list.
  private(set) var isReady = false
  /// Whether a barrier of the queue holds it back, and whether it is a barrier itself.
  private var (isHeld, isBarrier) = (false, false)
  /// The line that it stands in, while it does.
  private(set) var line: RecordedLine?
  private var condition: String?
  /// The procedure without which it went on, cancelled. Its name is read when no lock is held.
  fileprivate var missing: Procedure?
  /// The beginning of the wait in progress, and the list's times until then.
  private var begin: RecordSample

  /// The observers that are being called, if any.
  private var observing: Observing?
  /// The beginning of its closure's wait for the main actor; `never` if there is none.
  var bodyAwaitedSince = RecordedProcedure.never

  /// The wait that keeps the turn while observers are called.
  private struct Observing: Sendable {
    let event: ProcedureEvents
    let cause: WaitCause
    let from: Int64
  }

  /// Observers that take less than this, together, count as work: five notes for each procedure
  /// would only be noise. With a virtual clock they take longer than this, or no time.
  private static let leastObserving: Int64 = 20_000

  /// Whether only its list keeps it from going on.
  var isInList: Bool { life?.stage.isInList ?? false }

  init(_ content: RecordedProcedure, at sample: RecordSample) {
    self.content = content
    begin = sample
  }

  mutating func move(to next: RecordedLife, without missing: Procedure?, at sample: RecordSample) {
    if next.stage != .dependencies, self.missing == nil { self.missing = missing }
    endWait(without: missing, at: sample)
    if next.isCancelled, life?.isCancelled != true { content.cancelled = sample.now }
    switch next.stage {
    case .dependencies, .evaluation, .conditions, .ending, .finishing: break
    case .ready: content.ready = sample.now
    case .started, .executing:
      if content.started == RecordedProcedure.never {
        content.started = sample.now
        content.ranOnSpareThread = SpareThreads.isCurrent
      }
      if next.stage == .executing, life?.stage != .executing { content.executing = sample.now }
    case .finished: content.finished = sample.now
    }
    life = next
    if isReady != (next.stage == .ready) { isReady.toggle() }
  }

  /// A barrier of the queue holds it back, or it is a barrier.
  mutating func hold(isBarrier: Bool) { (isHeld, self.isBarrier) = (true, isBarrier) }

  /// Notes the wait since the last note.
  mutating func endWait(without missing: Procedure?, at sample: RecordSample) {
    let (from, to) = (begin.now, sample.now)
    if let held = life?.held {
      let event: ProcedureEvents = held == .execute ? .willExecute : .willFinish
      content.append(RecordedWait(.heldEvent, from: from, to: to, name: event.recordedName))
    }
    switch life?.stage {
    case .dependencies:
      let cause = missing == nil ? causeOfOrder : .dependency
      let barrier = cause == .barrier && isBarrier ? content.id : 0
      content.append(RecordedWait(cause, from: from, to: to, other: barrier))
      isHeld = false
    case .conditions:
      content.append(RecordedWait(.condition, from: from, to: to, name: condition))
      condition = nil
    case .evaluation, .ready: endReadyWait(at: sample)
    case .ending, .started, .executing, .finishing, .finished, nil: break
    }
    begin = sample
  }

  /// The wait if no dependency is missing: for a barrier, for its group to announce it, or for the
  /// scheduler.
  private var causeOfOrder: WaitCause {
    if isHeld { return .barrier }
    return content.parent == 0 ? .worker : .group
  }

  private mutating func endReadyWait(at sample: RecordSample) {
    if let line = line.take() {
      content.append(line.wait(from: begin.now, to: sample.now))
      return
    }
    // 1. How long each hindrance lasted meanwhile. Evaluating conditions needs no slot.
    var passed = sample.times.lanes &- begin.times.lanes
    var moments = sample.moments.lanes - begin.moments.lanes
    if life?.stage == .evaluation {
      let (slot, worker) = (Hindrance.slot.rawValue, Hindrance.worker.rawValue)
      passed[worker] += passed[slot]
      moments[worker] += moments[slot]
      passed[slot] = 0
    }
    // 2. Append them in the order of their mean instants.
    var from = begin.now
    while true {
      var first: (number: Int, mean: Double)?
      for number in 0..<4 where passed[number] > 0 {
        let mean = moments[number] / Double(passed[number])
        if first.map({ mean < $0.mean }) ?? true { first = (number, mean) }
      }
      guard let first, let hindrance = Hindrance(rawValue: first.number) else { return }
      let to = from + passed[first.number]
      content.append(
        RecordedWait(
          hindrance.recordedCause, from: from, to: to,
          name: hindrance == .worker && sample.isOnMainThread ? "main thread" : nil,
          limit: hindrance == .slot ? sample.limit : 0))
      passed[first.number] = 0
      from = to
    }
  }

  mutating func end(_ dependency: EndedDependency, at now: Int64) {
    if dependency.number != 0, !dependency.isTakenBack {
      content.dependencies.append(dependency.number)
    }
    guard life?.stage == .dependencies else { return }
    content.append(
      RecordedWait(
        .dependency, from: begin.now, to: now, name: dependency.name, other: dependency.number))
    begin.now = now
  }

  /// A condition was asked that does not answer at once.
  mutating func ask(_ name: String, at now: Int64) {
    guard life?.stage == .conditions else { return }
    content.append(RecordedWait(.condition, from: begin.now, to: now, name: condition))
    (condition, begin.now) = (name, now)
  }

  // MARK: After the start

  /// Before the start, the time of observers is part of another wait, unless it was cancelled.
  mutating func beginObserving(_ event: ProcedureEvents, _ cause: WaitCause, at now: Int64) {
    switch life?.stage {
    case .dependencies, .evaluation, .conditions, .ready, nil: return
    case .ending, .started, .executing, .finishing, .finished: break
    }
    observing = Observing(event: event, cause: cause, from: now)
  }

  /// The same event continues, with another cause.
  mutating func observe(_ cause: WaitCause, at now: Int64) {
    guard let event = observing?.event else { return }
    endObserving(at: now)
    beginObserving(event, cause, at: now)
  }

  mutating func endObserving(at now: Int64) {
    guard let observing = observing.take(), now - observing.from >= Self.leastObserving else {
      return
    }
    content.append(
      RecordedWait(
        observing.cause, from: observing.from, to: now, name: observing.event.recordedName))
  }

  mutating func endWaitForBody(at now: Int64) {
    guard bodyAwaitedSince != RecordedProcedure.never else { return }
    content.append(RecordedWait(.mainActor, from: bodyAwaitedSince, to: now))
    bodyAwaitedSince = RecordedProcedure.never
  }

  // MARK: In line

  mutating func enter(_ line: RecordedLine, at sample: RecordSample) {
    endReadyWait(at: sample)
    begin = sample
    self.line = line
  }

  mutating func leaveLine(after holder: UInt64, at sample: RecordSample) {
    if let line = line.take() {
      content.append(line.wait(from: begin.now, to: sample.now, after: holder))
    }
    begin = sample
  }
}

/// The line for a category in which a procedure stands.
///
/// The line may move to another category that keeps the procedure out. The whole wait then counts
/// for the last one, like a wait for dependencies: its holder is the one that makes room.
struct RecordedLine: Sendable {
  /// The request that stands there.
  private let request: MemberRequest
  /// The category at first.
  private let firstIndex: Int32
  /// How many such procedures have room at once, or start in the interval, in that category.
  private let firstCount: Int32

  /// Called under the list's lock; no lock of the table is held.
  init(of request: MemberRequest) {
    self.request = request
    let (index, count) = request.recordedStanding
    firstIndex = Int32(truncatingIfNeeded: index)
    firstCount = Int32(clamping: count)
  }

  /// The last category, and how many such procedures have room there.
  private var last: (index: Int, count: Int32) {
    let first = (index: Int(firstIndex), count: firstCount)
    guard request.limits.count > 1 else { return first }
    let standing = request.recordedStanding
    return standing.index == first.index ? first : (standing.index, Int32(clamping: standing.count))
  }

  /// - Parameter holder: the record of the procedure that made room for it; 0 if it is not known.
  func wait(from: Int64, to: Int64, after holder: UInt64 = 0) -> RecordedWait {
    let (index, count) = last
    let category = request.limits[index].category
    guard let interval = category.interval else {
      return RecordedWait(
        .exclusion, from: from, to: to, name: category.text, other: holder,
        limit: count == 1 || count == .max ? 0 : count)
    }
    return RecordedWait(
      .rate, from: from, to: to, name: category.text,
      other: interval.nanosecondsRoundedDown, limit: count)
  }
}

/// A dependency, as the record of its dependent notes it.
struct EndedDependency: Sendable {
  /// Its record; 0 if it has none in the store of its dependent.
  let number: UInt64
  /// Its name, if it has no such record.
  let name: String?
  /// Whether it was taken back: a wait for it ends, but the dependent did not need its end.
  var isTakenBack = false
}

extension EndedDependency {
  /// No lock is held.
  init(_ dependency: Procedure, for record: ProcedureRecord, isTakenBack: Bool = false) {
    self.isTakenBack = isTakenBack
    number = dependency.peek { $0.recordID }.number(inStoreOf: record.id) ?? 0
    name = number == 0 ? dependency.name : nil
  }
}

/// The identity of a record in any store; or none.
struct RecordID: Sendable {
  static let none = RecordID(bits: 0)
  private static let numberBits = 47

  /// The mark of its store, and its number there.
  private let bits: UInt64

  var exists: Bool { bits != 0 }

  private init(bits: UInt64) { self.bits = bits }

  init(_ number: UInt64, in store: RecordStore) {
    bits = UInt64(store.mark) << Self.numberBits | number
  }

  /// Its number, if it is in the same store as `other`.
  func number(inStoreOf other: RecordID) -> UInt64? {
    let number = bits & (1 << Self.numberBits - 1)
    return number != 0 && bits >> Self.numberBits == other.bits >> Self.numberBits ? number : nil
  }
}

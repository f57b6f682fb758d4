internal import ProcedurePrimitives

/// The record of one procedure, from when it is enqueued.
///
/// It changes under the lock of the list that the procedure is in, and what is noted of the procedure itself under
/// that of the procedure, too. Once the procedure has finished it changes no more.
final class ProcedureRecord: @unchecked Sendable {
  /// Whether there ever was a timeline: without one a dependent need not ask for the record.
  static let isUsed = AtomicByte(0)

  let id: RecordID
  let store: RecordStore
  private let history: HindranceHistory
  @safe @exclusivity(unchecked) private var open: OpenRecord

  /// Begins one, under the lock of the list.
  init(of type: AnyClass, isGroup: Bool, _ life: RecordedLife, in recording: ListRecording) {
    store = recording.store
    history = recording.history
    let number = recording.store.nextNumber()
    id = RecordID(number, in: recording.store)
    let sample = recording.history.sample()
    let content = RecordedProcedure(
      id: number, in: recording, type: type, isGroup: isGroup, at: sample.now)
    open = OpenRecord(content, at: sample)
    open.move(to: life, missesDependency: false, at: sample)
  }

  var content: RecordedProcedure { open.content }

  // MARK: What the procedure notes, under both locks

  /// It has come to something else.
  ///
  /// - Parameter missesDependency: whether it waited for a dependency that has not finished.
  func note(_ life: RecordedLife, missesDependency: Bool) {
    open.move(to: life, missesDependency: missesDependency, at: history.sample())
  }

  /// A dependency has finished.
  func note(_ dependency: RecordID) {
    let number = dependency.number(inStoreOf: id)
    open.endDependency(number, at: history.clock.now)
  }

  /// A condition is asked that does not answer at once.
  func noteCondition(_ name: String) {
    open.ask(name, at: history.clock.now)
  }

  /// A barrier of the queue holds it back.
  func noteBarrier() { open.isHeld = true }

  /// What is known so far, as if it waited for nothing from now on.
  func soFar(missesDependency: Bool) -> RecordedProcedure {
    var ended = open
    ended.endStretch(missesDependency: missesDependency, at: history.sample())
    return ended.content
  }

  // MARK: What its list notes

  /// It had a slot at hand, and stands in line for what others exclude it from.
  func enterLine(for category: @autoclosure () -> String?) {
    guard open.life?.stage == .ready, open.line == nil else { return }
    open.enterLine(for: category(), at: history.sample())
  }

  /// It goes on, or waits for something else.
  ///
  /// - Parameter holder: the record of the procedure that made room for it, if that is known.
  func leaveLine(after holder: RecordID = .none) {
    guard open.line != nil else { return }
    let number = holder.number(inStoreOf: id)
    open.leaveLine(after: number ?? 0, at: history.sample())
  }
}

/// The record of a procedure that has finished, as the store keeps it.
///
/// Not the open record with what was added: a request for a category may keep that for longer, and release it under
/// a lock, while errors are the user's objects.
final class FinishedRecord: @unchecked Sendable {
  /// Changes no more once it is published.
  @safe @exclusivity(unchecked) private(set) var content: RecordedProcedure
  /// Nil once it is there: the store has its records, which must not have the store.
  @safe @exclusivity(unchecked) private var store: RecordStore?

  init(_ content: RecordedProcedure, in store: RecordStore) {
    self.content = content
    self.store = store
  }

  /// Puts it where the timeline finds it. Called with no lock held, in the procedure's last turn, before its
  /// dependents and waiters hear of its end.
  ///
  /// - Parameter derivedName: its name if the user has given it none; nil for that of its type.
  func publish(named derivedName: @autoclosure () -> String?) {
    if content.name == nil, let name = derivedName() { content.name = name }
    store.take()?.append(self)
  }
}

/// A record, and the stretch of waiting that goes on.
struct OpenRecord: Sendable {
  var content: RecordedProcedure
  /// Nil before the first note.
  private(set) var life: RecordedLife?
  /// A barrier of the queue holds it back.
  var isHeld = false
  /// The category that it stands in line for, while it does.
  private(set) var line: Line?
  private var condition: String?
  /// When the stretch began, and what the list was until then.
  private var begin: RecordSample

  struct Line: Sendable {
    let category: String?
  }

  init(_ content: RecordedProcedure, at sample: RecordSample) {
    self.content = content
    begin = sample
  }

  mutating func move(to next: RecordedLife, missesDependency: Bool, at sample: RecordSample) {
    endStretch(missesDependency: missesDependency, at: sample)
    if next.isCancelled, life?.isCancelled != true { content.cancelled = sample.now }
    switch next.stage {
    case .dependencies, .evaluation, .conditions, .ending, .finishing: break
    case .ready: content.ready = sample.now
    case .started, .executing:
      if content.started == RecordedProcedure.never { content.started = sample.now }
      if next.stage == .executing, life?.stage != .executing { content.executing = sample.now }
    case .finished: content.finished = sample.now
    }
    life = next
  }

  /// Notes what it waited for since the last note.
  mutating func endStretch(missesDependency: Bool, at sample: RecordSample) {
    let passed = sample.now - begin.now
    if let held = life?.held {
      content.append(
        RecordedWait(.heldEvent, passed, name: held == .execute ? "willExecute" : "willFinish"))
    }
    switch life?.stage {
    case .dependencies:
      content.append(RecordedWait(missesDependency ? .dependency : causeOfOrder, passed))
      isHeld = false
    case .conditions:
      content.append(RecordedWait(.condition, passed, name: condition))
      condition = nil
    case .evaluation, .ready: endReadyStretch(at: sample)
    case .ending, .started, .executing, .finishing, .finished, nil: break
    }
    begin = sample
  }

  /// What it waits for if no dependency is missing: a barrier; its group, that has not announced it; or the scheduler.
  private var causeOfOrder: RecordedWait.Cause {
    if isHeld { return .barrier }
    return content.parent == 0 ? .worker : .group
  }

  private mutating func endReadyStretch(at sample: RecordSample) {
    if let line = line.take() {
      content.append(RecordedWait(.exclusion, sample.now - begin.now, name: line.category))
      return
    }
    // 1. How long each was there meanwhile, and when. To evaluate conditions it needs no slot.
    var passed = ForEachHindrance<Int64>()
    var moments = ForEachHindrance<Double>()
    for hindrance in Hindrance.all {
      let hinders = life?.stage == .evaluation && hindrance == .slot ? .worker : hindrance
      passed[hinders] += sample.times[hindrance] - begin.times[hindrance]
      moments[hinders] += sample.moments[hindrance] - begin.moments[hindrance]
    }
    // 2. In the order in which they were there.
    func mean(_ hindrance: Hindrance) -> Double { moments[hindrance] / Double(passed[hindrance]) }
    while true {
      var first: Hindrance?
      for hindrance in Hindrance.all where passed[hindrance] > 0 {
        if first.map({ mean(hindrance) < mean($0) }) ?? true { first = hindrance }
      }
      guard let first else { return }
      content.append(RecordedWait(first.recordedCause, passed[first]))
      passed[first] = 0
    }
  }

  mutating func endDependency(_ number: UInt64?, at now: Int64) {
    if let number { content.dependencies.append(number) }
    guard life?.stage == .dependencies else { return }
    content.append(RecordedWait(.dependency, now - begin.now, other: number ?? 0))
    begin.now = now
  }

  mutating func ask(_ name: String, at now: Int64) {
    guard life?.stage == .conditions else { return }
    content.append(RecordedWait(.condition, now - begin.now, name: condition))
    (condition, begin.now) = (name, now)
  }

  mutating func enterLine(for category: String?, at sample: RecordSample) {
    endReadyStretch(at: sample)
    begin = sample
    line = Line(category: category)
  }

  mutating func leaveLine(after holder: UInt64, at sample: RecordSample) {
    let category = line.take()?.category
    content.append(
      RecordedWait(.exclusion, sample.now - begin.now, name: category, other: holder))
    begin = sample
  }
}

/// The record of a procedure, in whatever store; or none.
struct RecordID: Sendable {
  static let none = RecordID(bits: 0)
  private static let numberBits = 47

  /// The mark of its store, and its number there.
  private let bits: UInt64

  private init(bits: UInt64) { self.bits = bits }

  init(_ number: UInt64, in store: RecordStore) {
    bits = UInt64(store.mark) << Self.numberBits | number
  }

  /// Its number, if it is in the same store as the other.
  func number(inStoreOf other: RecordID) -> UInt64? {
    let number = bits & (1 << Self.numberBits - 1)
    return number != 0 && bits >> Self.numberBits == other.bits >> Self.numberBits ? number : nil
  }
}

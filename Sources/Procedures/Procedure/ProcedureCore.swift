internal import Dispatch
internal import ProcedurePrimitives

/// Everything behind a procedure's lock.
///
/// `attachments` holds the parts that most procedures do not have, allocated with the first of
/// them. The other fields are ordered to avoid padding: with a few bytes more, freeing a procedure
/// on another thread than the one that made it would take malloc's lock.
@safe struct ProcedureCore: ~Copyable, Sendable {
  private struct Flags: BitFlags {
    let rawValue: UInt8
    static let isMember = Flags(rawValue: 1)
    static let hasMadeVoid = Flags(rawValue: 2)
    static let isFromClosure = Flags(rawValue: 4)
    static let isWatched = Flags(rawValue: 8)
    static let isLeftOut = Flags(rawValue: 16)
    static let isObserved = Flags(rawValue: 32)
  }

  private var storedLife: Life
  private var flags = Flags(rawValue: 0)
  /// The list whose workers run its turns, from enqueued until retired.
  ///
  /// A member does not retain the list: many threads would do that at once. The list lives as long
  /// as it has members.
  var list: ProcedureList? {
    @inline(__always) get { unsafe storedList?.takeUnretainedValue() }
  }

  /// The group in whose list it is, if any.
  var groupReference: GroupReference? { list?.owner }
  private var storedList: Unmanaged<ProcedureList>?
  var attachments = Attachments()
  var dependencies = Dependencies()
  /// Its enqueued dependents.
  var dependents = Dependents()
  var observers = ObserverList()
  var urgency = Urgency()

  @inline(__always)
  init(isGroup: Bool) {
    storedLife = Life(isGroup: isGroup)
  }

  /// Whether it is a member of `list`: false if its group refused it.
  private(set) var isMember: Bool {
    @inline(__always) get { flags.contains(.isMember) }
    @inline(__always) set {
      if newValue { flags.insert(.isMember) } else { flags.remove(.isMember) }
    }
  }

  /// Whether an attachment is called after each change of the life. One load.
  var isWatched: Bool {
    @inline(__always) get { flags.contains(.isWatched) }
  }

  /// The life of the procedure. Every event and every step uses this accessor, so a watcher misses
  /// none.
  var life: Life {
    @inline(__always) _read { yield storedLife }
    @inline(__always) _modify {
      let before = isWatched ? watchedLife : RecordedLife()
      yield &storedLife
      if isWatched { notifyWatcher(after: before) }
    }
  }

  /// The life as watchers see it.
  var watchedLife: RecordedLife { @inline(never) get { storedLife.recordedLife } }

  /// Notifies no watcher before it is a member of a list, or after it has left.
  @inline(never)
  mutating func notifyWatcher(after before: RecordedLife) {
    // 1. Most events change nothing that watchers see.
    let now = storedLife.recordedLife
    guard now.isNews(after: before), let list = unsafe storedList else { return }
    let missing = before.stage == .dependencies ? self.missing : nil
    func notify() { attachments.forEach { $0.lifeDidChange(to: now, without: missing) } }
    // 2. While it is ready its list writes to the same records, under the list's lock.
    if before.stage.isInList || now.stage.isInList {
      unsafe list._withUnsafeGuaranteedRef { $0.holdingLockOnly { notify() } }
    } else {
      notify()
    }
  }

  /// Sets whether an attachment watches from now on.
  mutating func watch(_ isWatched: Bool) {
    if isWatched { flags.insert(.isWatched) } else { flags.remove(.isWatched) }
  }

  /// Whether its record waits for observers to return. One load: most steps have no observers.
  var isObserved: Bool {
    @inline(__always) get { flags.contains(.isObserved) }
    set { if newValue { flags.insert(.isObserved) } else { flags.remove(.isObserved) } }
  }

  /// Whether it was offered to a recording, which did not take it.
  var isLeftOut: Bool { flags.contains(.isLeftOut) }

  mutating func leaveOut() { flags.insert(.isLeftOut) }

  /// Another recording begins.
  mutating func offerAgain() { flags.remove(.isLeftOut) }

  /// Whether it has finished with `()`, which is not worth an attachment.
  var hasMadeVoid: Bool { @inline(__always) get { flags.contains(.hasMadeVoid) } }

  /// Whether it was created by `queue.add { … }`: the caller may drop the result.
  var isFromClosure: Bool { flags.contains(.isFromClosure) }

  mutating func noteFromClosure() { flags.insert(.isFromClosure) }

  mutating func noteMadeVoid() { flags.insert(.hasMadeVoid) }

  /// - Parameter isMember: false if the list refused it, and does not keep it.
  mutating func setList(_ list: ProcedureList, of procedure: Procedure, isMember: Bool) {
    unsafe storedList = .passUnretained(list)
    self.isMember = isMember
    guard !isMember else { return }
    attachments.with(Refusal.self) { ($0.list, $0.procedure) = (list, procedure) }
  }

  @inline(__always)
  mutating func leaveList() { unsafe storedList = nil }

  /// Whether it has requested its categories.
  var isExclusive: Bool {
    @inline(__always) get { requirements?.value.exclusion?.request != nil }
  }

  /// Notifies the list that the procedure became ready.
  ///
  /// - Parameter workerList: the list of the calling worker, which will look for more there.
  @inline(__always)
  mutating func advance(
    _ procedure: Procedure, after effect: Life.Effect,
    onWorkerOf workerList: ProcedureList? = nil
  ) -> ProcedureList.FollowUp {
    guard case .ready(let readiness) = effect, let list = unsafe storedList else { return .nothing }
    return unsafe list._withUnsafeGuaranteedRef { list in
      list.advance(
        procedure, to: readiness, in: life.attempt,
        asking: readiness == .start ? exclusionRequest(for: procedure, in: list) : nil,
        asks: list !== workerList)
    }
  }

  /// A dependency is done, or was removed: the procedure goes on if it was the last.
  mutating func countDependency(
    of procedure: Procedure, onWorkerOf workerList: ProcedureList?,
    after dependency: EndedDependency?
  ) -> ProcedureList.FollowUp {
    // 1. A cancelled procedure may have finished before its dependencies.
    guard !life.isRetired else { return .nothing }
    // 2. The record ends the wait before the life does, which may begin the next wait.
    if isWatched, let dependency { noteDependency(dependency) }
    let effect = life.post(.dependencyDone)
    // 3. If it still waits, only the search for cycles may want to know.
    if effect == .none, life.mayStart, let list = unsafe storedList {
      return unsafe list._withUnsafeGuaranteedRef { $0.followUpOfWaitingOn() }
    }
    return advance(procedure, after: effect, onWorkerOf: workerList)
  }

  /// The request that it makes with its slot, once nothing else is missing; nil for most
  /// procedures.
  @inline(__always)
  func exclusionRequest(for procedure: Procedure, in list: ProcedureList)
    -> MemberRequest?
  {
    attachments.isEmpty ? nil : makeExclusionRequest(for: procedure, in: list)
  }

  @inline(never)
  private func makeExclusionRequest(
    for procedure: Procedure, in list: ProcedureList
  ) -> MemberRequest? {
    requirements?.value.exclusion?.makeRequest(
      for: procedure, in: list, priority: urgency.priority, record)
  }
}

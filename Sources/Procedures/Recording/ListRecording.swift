internal import Synchronization

/// What the members of one list are recorded with: where to, by which clock, and for how long which
/// hindrance kept those that were ready from being started.
///
/// A member reads the times when it becomes ready and again when it starts; the difference is where its
/// waiting went. So a change of the list's state costs O(1), however many members wait.
///
/// The times change under the list's lock and are read without it, by a sequence lock: `version` is odd
/// while they change, and a reader that sees it change reads again. Workers share no lock here.
final class ListRecording: Sendable {
  let store: RecordStore
  let clock: RecordClock
  /// The record of the group whose list this is; 0 if there is none.
  let parent: UInt64
  /// The place among `store.roots` of the queue, or outermost group, that is recorded.
  let root: Int
  /// What it replaced. Kept, since a reader may still use it.
  private let previous: ListRecording?

  private let version = Atomic<UInt64>(0)
  private let hindrance: Atomic<UInt8>
  private let since: Atomic<Int64>
  private let group = Atomic<Int64>(0)
  private let suspension = Atomic<Int64>(0)
  private let slot = Atomic<Int64>(0)
  private let worker = Atomic<Int64>(0)

  init(
    in store: RecordStore, by clock: RecordClock, parent: UInt64, root: Int,
    _ hindrance: Hindrance, replacing previous: ListRecording?
  ) {
    self.store = store
    self.clock = clock
    self.parent = parent
    self.root = root
    self.hindrance = Atomic(hindrance.rawValue)
    since = Atomic(clock.now)
    self.previous = previous
  }

  /// The list's state may have changed. Called under its lock.
  @inline(__always)
  func note(_ new: Hindrance) {
    if hindrance.load(ordering: .relaxed) != new.rawValue { change(to: new) }
  }

  @inline(never)
  private func change(to new: Hindrance) {
    let before = version.load(ordering: .relaxed)
    version.store(before + 1, ordering: .relaxed)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    // After that: what a reader takes for the time of the hindrance so far must not be later.
    let now = clock.now
    let passed = now - since.load(ordering: .relaxed)
    switch Hindrance(rawValue: hindrance.load(ordering: .relaxed)) {
    case .group: group.wrappingAdd(passed, ordering: .relaxed)
    case .suspension: suspension.wrappingAdd(passed, ordering: .relaxed)
    case .slot: slot.wrappingAdd(passed, ordering: .relaxed)
    case .worker, nil: worker.wrappingAdd(passed, ordering: .relaxed)
    }
    since.store(now, ordering: .relaxed)
    hindrance.store(new.rawValue, ordering: .relaxed)
    version.store(before + 2, ordering: .releasing)
  }

  /// What time it is, and how long each hindrance was there until now.
  func sample() -> RecordSample {
    while true {
      let before = version.load(ordering: .acquiring)
      if before & 1 != 0 { continue }
      var times = HindranceTimes(
        group: group.load(ordering: .relaxed), suspension: suspension.load(ordering: .relaxed),
        slot: slot.load(ordering: .relaxed), worker: worker.load(ordering: .relaxed))
      let start = since.load(ordering: .relaxed)
      let current = hindrance.load(ordering: .relaxed)
      // Between the two looks, so that it is not before `start`.
      let now = clock.now
      atomicMemoryFence(ordering: .acquiring)
      guard version.load(ordering: .relaxed) == before else { continue }
      switch Hindrance(rawValue: current) {
      case .group: times.group += now - start
      case .suspension: times.suspension += now - start
      case .slot: times.slot += now - start
      case .worker, nil: times.worker += now - start
      }
      return RecordSample(now: now, times: times)
    }
  }
}

/// An instant in nanoseconds, and how long each hindrance of a list was there until then.
struct RecordSample: Sendable {
  let now: Int64
  let times: HindranceTimes
}

/// The recording of a list, if there is one. One atomic load shows whether there is.
@safe struct RecordingReference: ~Copyable, Sendable {
  private let reference = unsafe Atomic<Unmanaged<ListRecording>?>(nil)
  /// Where the children of a group are to be recorded once it is on a queue.
  private let awaited = unsafe Atomic<Unmanaged<RecordStore>?>(nil)

  /// Whether there is one.
  var isUsed: Bool {
    @inline(__always) get { unsafe reference.load(ordering: .acquiring) != nil }
  }

  var current: ListRecording? {
    @inline(__always) get {
      guard let current = unsafe reference.load(ordering: .acquiring) else { return nil }
      return unsafe current.takeUnretainedValue()
    }
  }

  /// Calls with the recording, if there is one, without counting a reference: one that is replaced is kept
  /// by the next.
  @inline(__always)
  func withCurrent<Result>(_ body: (ListRecording) -> Result) -> Result? {
    guard let current = unsafe reference.load(ordering: .acquiring) else { return nil }
    return unsafe current._withUnsafeGuaranteedRef(body)
  }

  /// The list's state may have changed. Called under its lock, at the end of each change: without counting
  /// a reference.
  @inline(__always)
  func note(_ hindrance: Hindrance) {
    withCurrent { $0.note(hindrance) }
  }

  /// Called under the list's lock. What was there before must be kept by `new`.
  func replace(with new: ListRecording) {
    let old = unsafe reference.exchange(
      Unmanaged.passRetained(new), ordering: .acquiringAndReleasing)
    unsafe old?.release()
  }

  func await(_ store: RecordStore) {
    let old = unsafe awaited.exchange(
      Unmanaged.passRetained(store), ordering: .acquiringAndReleasing)
    unsafe old?.release()
  }

  /// Nil for a list that is not awaited, as most are not, and for all callers but one.
  func takeAwaited() -> RecordStore? {
    guard unsafe awaited.load(ordering: .relaxed) != nil else { return nil }
    return unsafe awaited.exchange(nil, ordering: .acquiringAndReleasing)?.takeRetainedValue()
  }

  deinit {
    unsafe reference.load(ordering: .acquiring)?.release()
    unsafe awaited.load(ordering: .acquiring)?.release()
  }
}

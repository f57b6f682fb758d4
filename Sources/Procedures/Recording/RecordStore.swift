internal import ProcedurePrimitives
internal import Synchronization

/// A queue, or a group, whose members are recorded.
protocol RecordedOwner: AnyObject, Sendable {
  /// How many of its members run at once; nil for no limit.
  var recordedLimit: Int? { get }

  /// What is recorded so far of those that have not finished, however deep.
  func unfinishedRecords(in store: RecordStore) -> [RecordedProcedure]
}

/// The records of a timeline: the newest that have finished, and where to find the others.
///
/// A worker that has finished a procedure takes the next number and puts the record at that place of a
/// ring: an addition and an exchange, no lock. What it takes out there is the oldest, and is dropped.
@safe package final class RecordStore: @unchecked Sendable {
  /// A queue, or group, that is recorded.
  struct Root: Sendable {
    // Not the list: a weak reference to it would make each of its references slow to count.
    weak var owner: (any RecordedOwner)?
    let name: String
    let clock: RecordClock
  }

  private struct Roots: Sendable {
    var roots: [Root] = []
    var clocks: [RecordClock] = []
  }

  /// The bits of a record that the store owns; 0 if it has none there.
  private typealias Place = Atomic<UInt>

  private static let storeCount = Atomic<UInt16>(0)

  /// By which a record's number is told from the same number of another store.
  let mark = storeCount.wrappingAdd(1, ordering: .relaxed).newValue
  package let capacity: Int
  private let places: UnsafeMutablePointer<Place>
  private let finishedCount = Atomic<UInt64>(0)
  let recordPlaces = RecordPlaces()
  private let isActive = Atomic<Bool>(true)
  private let roots = Locked(Roots())
  /// Only one at a time takes records out of their places to look at them.
  private let readers = Locked(())

  package init(capacity: Int) {
    self.capacity = max(capacity, 1)
    unsafe places = UnsafeMutablePointer<Place>.allocate(capacity: self.capacity)
    for index in 0..<self.capacity { unsafe (places + index).initialize(to: Place(0)) }
  }

  deinit {
    for index in 0..<capacity {
      unsafe ProcedureRecord(bits: places[index].load(ordering: .acquiring))?.release()
    }
    unsafe places.deinitialize(count: capacity)
    unsafe places.deallocate()
  }

  /// Records nothing that is enqueued from here on, and keeps no record: a queue that lives on does not
  /// keep errors alive. Called with no lock held.
  package func stop() {
    isActive.store(false, ordering: .sequentiallyConsistent)
    for index in 0..<capacity {
      take(at: index)?.release()
    }
  }

  var isRecording: Bool { isActive.load(ordering: .relaxed) }

  /// Takes over the record of a procedure that has finished. Called with no lock held, since what is
  /// dropped may be the last reference to a user's error.
  func append(_ record: ProcedureRecord) {
    let number = finishedCount.wrappingAdd(1, ordering: .relaxed).oldValue
    let place = Int(truncatingIfNeeded: number % UInt64(truncatingIfNeeded: capacity))
    put(record, at: place)?.release()
    // It was stopped meanwhile, or before.
    guard !isActive.load(ordering: .sequentiallyConsistent) else { return }
    take(at: place)?.release()
  }

  /// - Returns: what was there.
  @inline(__always)
  private func put(_ record: ProcedureRecord?, at index: Int) -> ProcedureRecord? {
    let bits = unsafe places[index].exchange(record?.bits ?? 0, ordering: .acquiringAndReleasing)
    return ProcedureRecord(bits: bits)
  }

  private func take(at index: Int) -> ProcedureRecord? { put(nil, at: index) }

  /// How many records were dropped for newer ones.
  package var droppedCount: Int {
    max(0, Int(finishedCount.load(ordering: .acquiring)) - capacity)
  }

  /// All records that there are, in the order in which they were enqueued.
  package var records: [RecordedProcedure] {
    var records = unfinished
    let known = Set(records.map(\.id))
    records += finished.filter { !known.contains($0.id) }
    // Numbers are given out in blocks, of which two threads may have one each.
    records.sort { ($0.enqueued, $0.id) < ($1.enqueued, $1.id) }
    return records
  }

  private var finished: [RecordedProcedure] {
    let count = min(finishedCount.load(ordering: .acquiring), UInt64(capacity))
    // What is dropped meanwhile may be the last reference to a user's error: not under the lock.
    var dropped: [ProcedureRecord] = []
    defer { for record in dropped { record.release() } }
    return readers.withLock { _ in
      var records: [RecordedProcedure] = []
      for index in 0..<Int(count) {
        // The reader owns it while it looks: a worker that comes meanwhile finds nothing there.
        guard let record = take(at: index) else { continue }
        records.append(record.content)
        let (isBack, _) = unsafe places[index].compareExchange(
          expected: 0, desired: record.bits, ordering: .acquiringAndReleasing)
        // Dropped for a newer one.
        if !isBack { dropped.append(record) }
      }
      return records
    }
  }

  private var unfinished: [RecordedProcedure] {
    // What this makes strong is released without the lock.
    let roots = self.roots.withLock { $0.roots }
    return roots.compactMap(\.owner).flatMap { $0.unfinishedRecords(in: self) }
  }

  // MARK: What is recorded

  /// Names of the queues and groups that are recorded, in order.
  package var rootNames: [String] { roots.withLock { $0.roots.map(\.name) } }

  /// How many procedures each of them lets run at once; nil for any number, or one that has gone.
  package var rootLimits: [Int?] {
    roots.withLock { $0.roots }.map { $0.owner?.recordedLimit }
  }

  /// The clock of each of them.
  package var rootClocks: [RecordClock] { roots.withLock { $0.roots.map(\.clock) } }

  /// - Returns: its place among the roots, and its clock, which those of the same service share.
  func addRoot(
    _ owner: (any RecordedOwner)?, named name: String, by service: any TimerService
  ) -> (place: Int, clock: RecordClock) {
    let new = RecordClock(service)
    return roots.withLock { roots in
      let known = roots.clocks.first { $0.service === service }
      let clock = known ?? new
      if known == nil { roots.clocks.append(new) }
      roots.roots.append(Root(owner: owner, name: name, clock: clock))
      return (roots.roots.count - 1, clock)
    }
  }
}

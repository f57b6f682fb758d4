internal import ProcedurePrimitives
internal import Synchronization

/// A queue, or a group, whose members are recorded.
protocol RecordedOwner: AnyObject, Sendable {
  var recordedList: ProcedureList? { get }
}

/// The records of a timeline: the newest finished ones, and where to find the others.
///
/// A worker that has finished a procedure takes the next number, and puts the record at that index
/// of a ring. The ring is cut into stripes with a lock each, and the next number is in the next
/// stripe: so two workers meet at a lock only if one of them is late by a whole round. The previous
/// record at the index is the oldest, and is dropped.
package final class RecordStore: Sendable {
  /// A queue, or group, that is recorded.
  package struct Root: Sendable {
    // It is not the list: a weak reference to it would slow down the counting of all its
    // references.
    fileprivate weak var owner: (any RecordedOwner)?
    package let name: String
    package let clock: RecordClock
    package let isGroup: Bool
    /// The label of the queue's underlying queue; nil without one.
    package let underlyingQueue: String?

    /// How many procedures it lets run at once; nil for any number, or if it was deallocated.
    package var limit: Int? {
      guard let limit = owner?.recordedList?.limit, limit != .max else { return nil }
      return limit
    }
  }

  /// A part of the ring, usually every sixteenth index. It grows as records come.
  private final class Stripe: Sendable {
    let records = Locked<[ProcedureRecord?]>([])
  }

  private static let storeCount = Atomic<UInt16>(0)

  /// Distinguishes a record's number from the same number of another store.
  let mark = storeCount.wrappingAdd(1, ordering: .relaxed).newValue
  package let capacity: Int
  /// One in this number of members of a recorded queue is recorded.
  package let sampleSize: Int
  private let offeredCount = Atomic<Int>(0)
  private let stripes: [Stripe]
  private let lastNumber = Atomic<UInt64>(0)
  private let finishedCount = Atomic<Int>(0)
  /// Read under the lock of a stripe, or of a list, which `stop()` acquires after it has changed
  /// this: either `stop()` finds the new entry, or the reader finds this changed.
  private let isStopped = AtomicByte(0)
  private let lockedRoots = Locked<[Root]>([])

  package init(capacity: Int, sampleSize: Int = 1) {
    self.capacity = max(capacity, 1)
    self.sampleSize = max(sampleSize, 1)
    stripes = (0..<min(self.capacity, 16)).map { _ in Stripe() }
  }

  /// Records nothing that is enqueued from now on, and keeps no record: a queue that lives on keeps
  /// neither errors nor memory of this. Called with no lock held.
  package func stop() {
    isStopped.store(1)
    for stripe in stripes { _ = stripe.records.withLock { exchange(&$0, with: []) } }
    for owner in roots.compactMap(\.owner) { owner.recordedList?.endRecording(in: self) }
  }

  var isRecording: Bool { isStopped.load() == 0 }

  /// Whether this member of a recorded queue is itself recorded, with everything below it.
  func takesNext() -> Bool {
    sampleSize == 1
      || offeredCount.wrappingAdd(1, ordering: .relaxed).oldValue % sampleSize == 0
  }

  /// How many members were not recorded so far.
  package var leftOutCount: Int {
    let count = offeredCount.load(ordering: .relaxed)
    return count - (count + sampleSize - 1) / sampleSize
  }

  /// The number of a new record, from 1.
  func nextNumber() -> UInt64 { lastNumber.wrappingAdd(1, ordering: .relaxed).newValue }

  /// Takes over the record of a finished procedure. Called with no lock held: a dropped record may
  /// have the last reference to a user's error.
  func append(_ record: ProcedureRecord) {
    let place = finishedCount.wrappingAdd(1, ordering: .relaxed).oldValue % capacity
    let index = place / stripes.count
    var record: ProcedureRecord? = record
    stripes[place % stripes.count].records.withLock { records in
      // It was stopped before this, or `stop()` waits for the stripe.
      guard isRecording else { return }
      while records.count <= index { records.append(nil) }
      swap(&records[index], &record)
    }
  }

  /// How many records were dropped for newer ones.
  package var droppedCount: Int { max(0, finishedCount.load(ordering: .acquiring) - capacity) }

  /// All records, in the order in which they were enqueued.
  package var records: [RecordedProcedure] {
    // A queue may have been given to the timeline more than once.
    var seen = Set<ObjectIdentifier>()
    let owners = roots.compactMap(\.owner).filter { seen.insert(ObjectIdentifier($0)).inserted }
    var records = owners.flatMap { $0.recordedList?.unfinishedRecords(in: self) ?? [] }
    let known = Set(records.map(\.id))
    // Finished records are read after the unfinished ones, so that a procedure that finishes
    // meanwhile is in one of them.
    for stripe in stripes {
      let finished = stripe.records.withLock { $0 }.compactMap { $0?.content }
      records += finished.filter { !known.contains($0.id) }
    }
    // Two threads that enqueue at the same time may have taken their numbers the other way round.
    records.sort { ($0.enqueued, $0.id) < ($1.enqueued, $1.id) }
    return records
  }

  /// The queues and groups that are recorded, in order. Use the result without the lock: the reader
  /// may have the last reference to an owner.
  package var roots: [Root] { lockedRoots.withLock { $0 } }

  /// - Returns: its index among the roots.
  func addRoot(
    _ owner: (any RecordedOwner)?, named name: String, by clock: RecordClock,
    underlyingQueue: String?
  ) -> Int {
    lockedRoots.withLock { roots in
      roots.append(
        Root(
          owner: owner, name: name, clock: clock, isGroup: owner is Procedure,
          underlyingQueue: underlyingQueue))
      return roots.count - 1
    }
  }
}

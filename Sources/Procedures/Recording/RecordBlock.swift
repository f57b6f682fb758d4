internal import Synchronization

/// Memory for some records, so that not each of them is allocated and freed.
///
/// A block is given up when the last of its places is released. Until then each place that is not in use
/// counts as one that is: so a block lives at least until all of its places have been taken.
@safe struct RecordBlock {
  typealias Place = UnsafeMutablePointer<ProcedureRecord.Content>

  private struct Header: ~Copyable {
    /// The number of the record in the first place.
    var firstID: UInt64 = 0
    let unreleased = Atomic<Int>(RecordBlock.count)
  }

  /// How many places there are.
  static let count = 48
  /// So large that the lowest bits of a block's address are zero, and of that of a place tell the block.
  static let alignment: UInt = 8_192
  private static let headerSize = 64

  private let header: UnsafeMutablePointer<Header>

  init() {
    let stride = MemoryLayout<ProcedureRecord.Content>.stride
    precondition(
      Self.headerSize + Self.count * stride <= Self.alignment
        && MemoryLayout<ProcedureRecord.Content>.alignment <= Self.headerSize
        && MemoryLayout<Header>.size <= Self.headerSize,
      "Internal inconsistency: a block is too small for its records")
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: Self.headerSize + Self.count * stride, alignment: Int(Self.alignment))
    unsafe header = memory.bindMemory(to: Header.self, capacity: 1)
    unsafe header.initialize(to: Header())
  }

  /// Called before the first place is given out.
  func number(from firstID: UInt64) { unsafe header.pointee.firstID = firstID }

  /// - Parameter address: of a block, of which the caller has a place that is not released.
  @inline(__always)
  init(address: UInt) {
    unsafe header = UnsafeMutablePointer<Header>(bitPattern: address)!
  }

  var address: UInt { UInt(bitPattern: unsafe header) }

  /// The memory of a place, and the number of the record in it.
  @inline(__always)
  func place(_ index: UInt) -> (Place, id: UInt64) {
    let memory = unsafe UnsafeMutableRawPointer(header) + Self.headerSize
    let places = unsafe memory.assumingMemoryBound(to: ProcedureRecord.Content.self)
    return unsafe (places + Int(index), header.pointee.firstID + UInt64(index))
  }

  /// Gives a record's place back, with what is in it.
  static func release(_ place: Place) {
    unsafe place.deinitialize(count: 1)
    RecordBlock(address: UInt(bitPattern: place) & ~(alignment - 1)).release(1)
  }

  /// Gives places back that hold no record.
  func release(_ number: Int) {
    let before = unsafe header.pointee.unreleased.subtract(
      number, ordering: .acquiringAndReleasing
    ).oldValue
    guard before == number else { return }
    unsafe header.deinitialize(count: 1)
    unsafe UnsafeMutableRawPointer(header).deallocate()
  }
}

/// Gives out the places of one block after another. No lock: a place is one addition.
///
/// The word is the address of the block whose places are given out, and in its lowest bits the index of the
/// next place. Both change at once, so a thread that has got a place keeps the block by it. An index beyond
/// the last place says that a new block is needed; each thread that finds it makes one, and one of them
/// puts it in.
struct RecordPlaces: ~Copyable, Sendable {
  private let word = Atomic<UInt>(UInt(RecordBlock.count))
  private let lastID = Atomic<UInt64>(0)

  @inline(__always)
  func take() -> (RecordBlock.Place, id: UInt64) {
    while true {
      let found = word.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue
      let index = found & (RecordBlock.alignment - 1)
      if index < RecordBlock.count {
        return unsafe RecordBlock(address: found - index).place(index)
      }
      renew()
    }
  }

  @inline(never)
  private func renew() {
    var block: RecordBlock?
    var found = word.load(ordering: .acquiring)
    while Self.isUsedUp(found) {
      // Numbers that were reserved before another thread's block came would be lower than that one's.
      let last = lastID.wrappingAdd(UInt64(RecordBlock.count), ordering: .relaxed).newValue
      let new = block ?? RecordBlock()
      new.number(from: last - UInt64(RecordBlock.count) + 1)
      let (isDone, now) = word.compareExchange(
        expected: found, desired: new.address, ordering: .acquiringAndReleasing)
      if isDone { return }
      (block, found) = (new, now)
    }
    // Another thread was faster.
    block?.release(RecordBlock.count)
  }

  private static func isUsedUp(_ word: UInt) -> Bool {
    word & (RecordBlock.alignment - 1) >= RecordBlock.count
  }

  deinit {
    let found = word.load(ordering: .acquiring)
    let index = found & (RecordBlock.alignment - 1)
    guard index < RecordBlock.count else { return }
    RecordBlock(address: found - index).release(RecordBlock.count - Int(index))
  }
}

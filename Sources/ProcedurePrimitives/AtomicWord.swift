public import Synchronization

/// A machine word whose bits can be changed in one step, singly or all.
///
/// Each change acquires and releases: a thread that changes the word sees everything that earlier
/// changers wrote before their changes. Each access is a `schedulingPoint()`.
public struct AtomicWord: ~Copyable, Sendable {
  @usableFromInline let value: OrderedAtomic<UInt>

  /// Makes a word that holds `initial`.
  @inlinable
  public init(_ initial: UInt) {
    value = OrderedAtomic(initial)
  }

  /// One acquire load.
  @inlinable @inline(__always)
  public borrowing func load() -> UInt {
    schedulingPoint()
    return value.loadAcquiring()
  }

  /// Stores `new` if the value is `expected`. It may fail spuriously, so call it in a loop.
  ///
  /// - Returns: whether it did, and the old value.
  @inlinable @inline(__always)
  public borrowing func replace(_ expected: UInt, with new: UInt) -> (isDone: Bool, found: UInt) {
    schedulingPoint()
    let (isDone, found) = value.weakCompareExchangeAcquiringAndReleasing(expected, new)
    #if CONTENTION
      if !isDone { Contention.noteFailure() }
    #endif
    return (isDone, found)
  }

  /// Sets the bits that are set in `bits`: at least one.
  @inlinable @inline(__always)
  public borrowing func insert(_ bits: UInt) {
    schedulingPoint()
    _ = value.bitwiseOrAcquiringAndReleasing(bits)
  }

  /// Acquires and releases like a change, and changes nothing.
  ///
  /// The language asks for no stronger order. But for x86-64 LLVM emits no instruction for an
  /// acquire-release change by nothing. Then two threads that each store a variable, change the
  /// word and load the other's variable can miss each other. LLVM keeps a sequentially consistent
  /// change, which `.ci/assembly` checks.
  @inlinable @inline(__always)
  public borrowing func order() {
    schedulingPoint()
    _ = value.bitwiseOrSequentiallyConsistent(0)
  }

  /// Keeps the bits that are set in `bits`, and clears all others.
  ///
  /// - Returns: the value before.
  @inlinable @inline(__always)
  public borrowing func keep(_ bits: UInt) -> UInt {
    schedulingPoint()
    return value.bitwiseAndAcquiringAndReleasing(bits)
  }
}

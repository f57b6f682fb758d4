public import Synchronization

/// A machine word of which single bits, or all, are changed in one step.
///
/// Each change acquires and releases: a thread that changes it sees what every thread that changed it
/// before had written until then. Each access is a `schedulingPoint()`.
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

  /// Puts `new` in if `expected` was there. It may fail although it was: for loops.
  ///
  /// - Returns: whether it did, and the value before.
  @inlinable @inline(__always)
  public borrowing func replace(_ expected: UInt, with new: UInt) -> (isDone: Bool, found: UInt) {
    schedulingPoint()
    let (isDone, found) = value.weakCompareExchangeAcquiringAndReleasing(expected, new)
    return (isDone, found)
  }

  /// Sets the bits that are set in `bits`: at least one.
  @inlinable @inline(__always)
  public borrowing func insert(_ bits: UInt) {
    schedulingPoint()
    _ = value.bitwiseOrAcquiringAndReleasing(bits)
  }

  /// Acquires and releases as a change does, and changes nothing.
  ///
  /// By the language that would be enough. But for x86-64 LLVM makes no instruction of a change by nothing that only acquires
  /// and releases: then two threads, of which each stores something, changes the word and reads what the other has stored,
  /// can miss each other. One that is sequentially consistent it keeps, which `.ci/assembly` checks.
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

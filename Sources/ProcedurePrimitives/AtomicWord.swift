public import Synchronization

/// A machine word of which single bits, or all, are changed in one step.
///
/// Each change acquires and releases: a thread that changes it sees what every thread that changed it
/// before had written until then. Each access is a `schedulingPoint()`.
public struct AtomicWord: ~Copyable, Sendable {
  @usableFromInline let value: Atomic<UInt>

  /// Makes a word that holds `initial`.
  @inlinable
  public init(_ initial: UInt) {
    value = Atomic(initial)
  }

  /// One acquire load.
  @inlinable @inline(__always)
  public borrowing func load() -> UInt {
    schedulingPoint()
    return value.load(ordering: .acquiring)
  }

  /// Puts `new` in if `expected` was there. It may fail although it was: for loops.
  ///
  /// - Returns: whether it did, and the value before.
  @inlinable @inline(__always)
  public borrowing func replace(_ expected: UInt, with new: UInt) -> (isDone: Bool, found: UInt) {
    schedulingPoint()
    let (isDone, found) = value.weakCompareExchange(
      expected: expected, desired: new, successOrdering: .acquiringAndReleasing,
      failureOrdering: .acquiring)
    return (isDone, found)
  }

  /// Sets the bits that are set in `bits`.
  @inlinable @inline(__always)
  public borrowing func insert(_ bits: UInt) {
    schedulingPoint()
    value.bitwiseOr(bits, ordering: .acquiringAndReleasing)
  }

  /// Keeps the bits that are set in `bits`, and clears all others.
  ///
  /// - Returns: the value before.
  @inlinable @inline(__always)
  public borrowing func keep(_ bits: UInt) -> UInt {
    schedulingPoint()
    return value.bitwiseAnd(bits, ordering: .acquiringAndReleasing).oldValue
  }
}

public import Synchronization

/// A byte that is written under its owner's lock and read by any thread without one.
///
/// Reading is one acquire load: each thread that reads the new value sees the writes before `store`.
/// Each access is a `schedulingPoint()`.
public struct AtomicByte: ~Copyable, Sendable {
  @usableFromInline let value: Atomic<UInt8>

  /// Makes a byte that holds `initial`.
  @inlinable
  public init(_ initial: UInt8) {
    value = Atomic(initial)
  }

  /// One acquire load.
  @inlinable @inline(__always)
  public borrowing func load() -> UInt8 {
    schedulingPoint()
    return value.load(ordering: .acquiring)
  }

  /// One release store.
  @inlinable @inline(__always)
  public borrowing func store(_ new: UInt8) {
    schedulingPoint()
    value.store(new, ordering: .releasing)
  }

  /// Puts `new` in and returns the value before.
  @inlinable @inline(__always)
  public borrowing func exchange(_ new: UInt8) -> UInt8 {
    schedulingPoint()
    return value.exchange(new, ordering: .acquiringAndReleasing)
  }

  /// Puts `new` in if `expected` was there. True if it did.
  @inlinable @inline(__always)
  public borrowing func compareExchange(_ expected: UInt8, _ new: UInt8) -> Bool {
    schedulingPoint()
    return value.compareExchange(
      expected: expected, desired: new, ordering: .acquiringAndReleasing
    ).exchanged
  }
}

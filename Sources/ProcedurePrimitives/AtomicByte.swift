public import Synchronization

/// A byte that is written under its owner's lock and read by any thread without one.
///
/// Reading is one acquire load: each thread that reads the new value sees the writes before `store`.
/// Each access is a `schedulingPoint()`.
///
/// It must never be half of "each stores one thing, then reads the other's": both may read the old value, since a load may
/// be done before a release store in front of it. x86-64 does that, and Apple's processors do (`ldapr`). Linux on ARM loads
/// with `ldar`, which does not, so that a test there shows nothing. Let the other side acquire a lock after its store under which
/// this one reads, or let both sides change one `AtomicWord`.
public struct AtomicByte: ~Copyable, Sendable {
  @usableFromInline let value: OrderedAtomic<UInt8>

  /// Makes a byte that holds `initial`.
  @inlinable
  public init(_ initial: UInt8) {
    value = OrderedAtomic(initial)
  }

  /// One acquire load.
  @inlinable @inline(__always)
  public borrowing func load() -> UInt8 {
    schedulingPoint()
    return value.loadAcquiring()
  }

  /// One release store.
  @inlinable @inline(__always)
  public borrowing func store(_ new: UInt8) {
    schedulingPoint()
    value.storeReleasing(new)
  }

  /// Puts `new` in and returns the value before.
  @inlinable @inline(__always)
  public borrowing func exchange(_ new: UInt8) -> UInt8 {
    schedulingPoint()
    return value.exchangeAcquiringAndReleasing(new)
  }

  /// Puts `new` in if `expected` was there. True if it did.
  @inlinable @inline(__always)
  public borrowing func compareExchange(_ expected: UInt8, _ new: UInt8) -> Bool {
    schedulingPoint()
    return value.compareExchangeAcquiringAndReleasing(expected, new)
  }
}

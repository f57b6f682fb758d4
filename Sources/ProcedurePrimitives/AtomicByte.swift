public import Synchronization

/// A byte that threads write under the owner's lock, and any thread reads without a lock.
///
/// Reading is one acquire load: a thread that reads the new value sees the writes before `store`.
/// Each access is a `schedulingPoint()`.
///
/// Never use it where two threads each store one variable and then load the other's: both may read
/// the old value, since a processor may load before an earlier release store. x86-64 and Apple's
/// processors do (`ldapr`). Linux on ARM loads with `ldar`, which does not, so a test there shows
/// nothing. Let the other thread store and then acquire a lock under which this one reads, or let
/// both change one `AtomicWord`.
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

  /// Stores `new` and returns the old value.
  @inlinable @inline(__always)
  public borrowing func exchange(_ new: UInt8) -> UInt8 {
    schedulingPoint()
    return value.exchangeAcquiringAndReleasing(new)
  }

  /// Stores `new` if the value is `expected`. True if it did.
  @inlinable @inline(__always)
  public borrowing func compareExchange(_ expected: UInt8, _ new: UInt8) -> Bool {
    schedulingPoint()
    return value.compareExchangeAcquiringAndReleasing(expected, new)
  }
}

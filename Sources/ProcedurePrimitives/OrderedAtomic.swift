public import Synchronization

/// An integer that threads share. The name of each function says its memory order.
///
/// The locks and atomics of the package use it; counters, which order nothing, use `Atomic`. With
/// `-DMODEL` each function also reports to the schedule explorer (`ModelThread`), in the same body
/// in which it names the order to the processor, so the explorer checks the order that runs.
@usableFromInline
struct OrderedAtomic<Value: AtomicRepresentable & FixedWidthInteger & Sendable>:
  ~Copyable, Sendable
{
  @usableFromInline let value: Atomic<Value>
  @usableFromInline let told: ToldAtomic

  /// - Parameter ignored: bits that readers of the value ignore.
  @inlinable @inline(__always)
  init(_ initial: Value, ignoring ignored: Value = 0) {
    value = Atomic(initial)
    told = ToldAtomic(ignoring: UInt(truncatingIfNeeded: ignored))
  }
}

extension OrderedAtomic where Value == UInt8 {
  /// Not reported to the explorer, where it returns the newest value. Use it for a guess that a
  /// compare-exchange confirms, or under the lock that guards all stores.
  @inlinable @inline(__always)
  borrowing func loadRelaxed() -> Value { value.load(ordering: .relaxed) }

  @inlinable @inline(__always)
  borrowing func loadAcquiring() -> Value {
    told.load(value.load(ordering: .acquiring), .acquiring)
  }

  @inlinable @inline(__always)
  borrowing func storeReleasing(_ new: Value) {
    told.store(new, over: loadRelaxed(), .releasing)
    value.store(new, ordering: .releasing)
  }

  @inlinable @inline(__always)
  borrowing func exchangeAcquiringAndReleasing(_ new: Value) -> Value {
    told.change(
      value.exchange(new, ordering: .acquiringAndReleasing), to: new, .acquiringAndReleasing)
  }

  @inlinable @inline(__always)
  borrowing func compareExchangeAcquiringAndReleasing(_ expected: Value, _ new: Value) -> Bool {
    let result = value.compareExchange(
      expected: expected, desired: new, successOrdering: .acquiringAndReleasing,
      failureOrdering: .acquiring)
    told.compareExchange(
      exchanged: result.exchanged, UInt(result.original), to: UInt(new), .acquiringAndReleasing,
      orFail: .acquiring)
    return result.exchanged
  }

  /// May fail spuriously. A failure orders nothing.
  @inlinable @inline(__always)
  borrowing func weakCompareExchangeAcquiring(_ expected: Value, _ new: Value) -> Bool {
    let result = value.weakCompareExchange(
      expected: expected, desired: new, successOrdering: .acquiring, failureOrdering: .relaxed)
    told.compareExchange(
      exchanged: result.exchanged, UInt(result.original), to: UInt(new), .acquiring,
      orFail: .relaxed)
    return result.exchanged
  }
}

extension OrderedAtomic where Value == UInt32 {
  /// Not reported to the explorer, where it returns the newest value. Use it for a guess that a
  /// compare-exchange confirms, or under the lock that guards all stores.
  @inlinable @inline(__always)
  borrowing func loadRelaxed() -> Value { value.load(ordering: .relaxed) }

  @inlinable @inline(__always)
  borrowing func storeReleasing(_ new: Value) {
    told.store(new, over: loadRelaxed(), .releasing)
    value.store(new, ordering: .releasing)
  }

  /// May fail spuriously. A failure orders nothing.
  @inlinable @inline(__always)
  borrowing func weakCompareExchangeAcquiring(_ expected: Value, _ new: Value) -> Bool {
    let result = value.weakCompareExchange(
      expected: expected, desired: new, successOrdering: .acquiring, failureOrdering: .relaxed)
    told.compareExchange(
      exchanged: result.exchanged, UInt(result.original), to: UInt(new), .acquiring,
      orFail: .relaxed)
    return result.exchanged
  }
}

extension OrderedAtomic where Value == UInt {
  @inlinable @inline(__always)
  borrowing func loadAcquiring() -> Value {
    told.load(value.load(ordering: .acquiring), .acquiring)
  }

  /// May fail spuriously. A failure acquires.
  @inlinable @inline(__always)
  borrowing func weakCompareExchangeAcquiringAndReleasing(
    _ expected: Value, _ new: Value
  ) -> (exchanged: Bool, original: Value) {
    let result = value.weakCompareExchange(
      expected: expected, desired: new, successOrdering: .acquiringAndReleasing,
      failureOrdering: .acquiring)
    told.compareExchange(
      exchanged: result.exchanged, UInt(result.original), to: UInt(new), .acquiringAndReleasing,
      orFail: .acquiring)
    return result
  }

  @inlinable @inline(__always)
  borrowing func bitwiseOrAcquiringAndReleasing(_ bits: Value) -> Value {
    let old = value.bitwiseOr(bits, ordering: .acquiringAndReleasing).oldValue
    return told.change(old, to: old | bits, .acquiringAndReleasing)
  }

  @inlinable @inline(__always)
  borrowing func bitwiseOrSequentiallyConsistent(_ bits: Value) -> Value {
    let old = value.bitwiseOr(bits, ordering: .sequentiallyConsistent).oldValue
    return told.change(old, to: old | bits, .sequentiallyConsistent)
  }

  @inlinable @inline(__always)
  borrowing func bitwiseAndAcquiringAndReleasing(_ bits: Value) -> Value {
    let old = value.bitwiseAnd(bits, ordering: .acquiringAndReleasing).oldValue
    return told.change(old, to: old & bits, .acquiringAndReleasing)
  }
}

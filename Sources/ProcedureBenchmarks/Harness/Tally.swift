internal import Synchronization

/// Proves that each side of a contest does the work.
///
/// Each item notes itself. Only the warm-up counts: in measured rounds a note costs a load and a
/// branch, the same on both sides.
enum Tally {
  private static let isCounting = Atomic(false)
  private static let number = Atomic(0)

  /// Each item must call this once.
  @inline(__always)
  static func note() {
    if isCounting.load(ordering: .relaxed) { number.add(1, ordering: .relaxed) }
  }

  static func begin() {
    number.store(0, ordering: .relaxed)
    isCounting.store(true, ordering: .sequentiallyConsistent)
  }

  static func end() -> Int {
    isCounting.store(false, ordering: .sequentiallyConsistent)
    return number.load(ordering: .sequentiallyConsistent)
  }
}

/// Stops the program if the work of a contest was not done.
func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) {
  if !condition { fatalError(sentence()) }
}

/// Keeps the optimiser from removing an unused value.
@inline(never)
@_optimize(none)
func blackHole<Value>(_ value: borrowing Value) {}

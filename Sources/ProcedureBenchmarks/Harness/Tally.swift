internal import Synchronization

/// Proves that each side of a contest does the work.
///
/// Each item notes itself. Only the warm-up counts: in the measured rounds a note is a load and a
/// branch, on both sides alike.
enum Tally {
  private static let isCounting = Atomic(false)
  private static let number = Atomic(0)

  /// To be called once by each item.
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

/// Keeps the optimiser from seeing that no code needs a value.
@inline(never)
@_optimize(none)
func blackHole<Value>(_ value: borrowing Value) {}

internal import Synchronization

/// Proves that each entry of a contest does the work.
///
/// Each item notes itself. Only the warm-up counts: in the measured rounds a note is a load and a
/// branch, for all contestants alike.
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

  /// Stops the program if not all was done, or too much: its figures would say nothing.
  static func end(expecting expected: Int, for name: String) {
    isCounting.store(false, ordering: .sequentiallyConsistent)
    let found = number.load(ordering: .sequentiallyConsistent)
    guard found == expected else {
      fatalError("\(name): \(found) items were done instead of \(expected)")
    }
  }
}

/// Stops the program if the work of a contest was not done: for what does not note itself.
func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) {
  if !condition { fatalError(sentence()) }
}

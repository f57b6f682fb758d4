internal import Cancellation

/// The token rows of the cost table, each beside what it is compared with, in one run.
///
/// Prints nanoseconds an item, the least of several passes.
func runTokenBenchmarks() async {
  print("## Tokens: ns an item, the least of \(TokenBenchmark.passes) passes")
  pollRows()
  registrationRows()
  treeRows()
  deadlineRows()
  await taskRows()
  sizeRows()
}

enum TokenBenchmark {
  static let passes = 11

  /// The least time of one item, in nanoseconds.
  static func least(_ items: Int, _ body: () -> Void) -> Double {
    var least = Duration.seconds(1_000_000)
    for _ in 0..<passes { least = min(least, ContinuousClock().measure(body)) }
    return nanoseconds(least) / Double(items)
  }

  static func least(_ items: Int, _ body: () async -> Void) async -> Double {
    var least = Duration.seconds(1_000_000)
    for _ in 0..<passes { least = min(least, await ContinuousClock().measure(body)) }
    return nanoseconds(least) / Double(items)
  }

  static func row(_ name: String, _ nanoseconds: Double) {
    let tenths = Int((nanoseconds * 100).rounded())
    let text = "\(tenths / 100).\(tenths / 10 % 10)\(tenths % 10)"
    let gap = String(repeating: " ", count: max(1, 62 - name.count - text.count))
    print("\(name)\(gap)\(text)")
  }

  private static func nanoseconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) * 1e9 + Double(attoseconds) / 1e9
  }
}

/// Keeps the optimiser from seeing through a value.
@inline(never)
func blackHole<Value>(_ value: borrowing Value) {}

/// Several ways of doing the same work, measured in turn in one run, so that a machine whose speed
/// drifts slows all of them alike.
struct Contest: Sendable {
  struct Entry: Sendable {
    let name: String
    /// Does `count` items and returns when all are done.
    let run: @Sendable (_ count: Int) async -> Void
    /// For an entry that cannot do as many in reasonable time.
    var share = 1
  }

  let name: String
  let count: Int
  let entries: [Entry]

  /// Prints minimum and median per item, and the ratio of the medians to the first entry's.
  func run(rounds: Int) async {
    var figures = [[Double]](repeating: [], count: entries.count)
    for round in 0...rounds {
      for (index, entry) in entries.enumerated() {
        let items = count / entry.share
        let start = ContinuousClock.now
        await entry.run(items)
        let elapsed = ContinuousClock.now - start
        // The first round warms up.
        if round > 0 { figures[index].append(elapsed.nanoseconds / Double(items)) }
      }
    }
    print("\n\(name), ns an item, \(count) items, \(rounds) rounds")
    let reference = figures[0].median
    for (entry, figure) in zip(entries, figures) {
      let ratio = figure.median / reference
      print(
        "  \(entry.name.padded(to: 34)) min \(figure.min()!.text)  median \(figure.median.text)"
          + "  ratio \((ratio * 100).rounded() / 100)")
    }
  }
}

extension Duration {
  fileprivate var nanoseconds: Double {
    Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9
  }
}

extension [Double] {
  fileprivate var median: Double { sorted()[count / 2] }
}

extension Double {
  fileprivate var text: String {
    let digits = String(Int(rounded()))
    return String(repeating: " ", count: max(0, 7 - digits.count)) + digits
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}

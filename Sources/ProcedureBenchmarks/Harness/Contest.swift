/// One question, put to several contestants in one run.
///
/// All entries are measured in turn, round by round, so that a machine whose speed drifts slows all
/// of them alike, and in an order in which no entry always comes after the same one.
struct Contest: Sendable {
  let name: String
  /// What an item is, where the figures are not about pieces of work.
  var item = "item"
  var unit = Unit.nanoseconds
  /// What an entry yields in each round: one figure, or several of one distribution, by name.
  var figures = [""]
  /// For a contest whose rounds are long: at most so many.
  var mostRounds = Int.max
  /// Whether the sizes of its entries make a panel of the plot.
  var isPlotted = false
  /// How many items an entry does in a round. An entry with a size of its own repeats until it has
  /// done at least as many.
  let count: Int
  /// What the warm-up does of an entry with a size of its own.
  var mostWarmUpItems: Int { entries.contains { $0.size != nil } ? 10_000 : .max }
  let entries: [Entry]
}

extension Contest {
  /// Runs all entries once to warm up and to see that they do their work, then round by round.
  ///
  /// - Parameters:
  ///   - rounds: how many figures each entry gets.
  ///   - divisor: by how much to divide the number of items, for a quick look.
  func run(rounds: Int, divisor: Int = 1) async -> Samples {
    let rounds = min(rounds, mostRounds)
    for entry in entries {
      Tally.begin()
      // Large numbers are not done once more for that.
      var work = work(of: entry, divisor: divisor)
      work.items = min(work.items, mostWarmUpItems)
      _ = await figures(of: entry, work)
      Tally.end(expecting: work.repeats * work.items * entry.tally, for: "\(name): \(entry.name)")
    }
    var samples = [[[Double]]](
      repeating: [[Double]](repeating: [], count: figures.count), count: entries.count)
    var referenceLoop: [Double] = []
    for round in 0..<rounds {
      for index in BalancedOrder.order(of: entries.count, round: round) {
        referenceLoop.append(ReferenceLoop.run())
        let entry = entries[index]
        let found = await figures(of: entry, work(of: entry, divisor: divisor))
        for (figure, value) in found.enumerated() { samples[index][figure].append(value) }
      }
    }
    return Samples(
      rounds: rounds, items: entries.map { work(of: $0, divisor: divisor).items },
      values: samples, referenceLoop: Summary(referenceLoop))
  }

  /// How many items an entry does at once, and how often.
  private func work(of entry: Entry, divisor: Int) -> (items: Int, repeats: Int) {
    let count = max(1, count / divisor)
    guard let size = entry.size else { return (max(1, count / entry.share), 1) }
    return (size, max(1, count / entry.share / size))
  }

  /// The mean of the repeats.
  private func figures(of entry: Entry, _ work: (items: Int, repeats: Int)) async -> [Double] {
    var sums = [Double](repeating: 0, count: figures.count)
    for _ in 0..<work.repeats {
      let found = await entry.measure(work.items)
      for index in sums.indices { sums[index] += found[index] }
    }
    return sums.map { $0 / Double(work.repeats) }
  }
}

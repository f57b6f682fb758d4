/// One contestant's way of doing the work of a contest.
struct Side: Sendable {
  let name: String
  /// How many items one measurement does.
  let items: Int
  /// How many measurements a round takes.
  let repeats: Int
  /// How often each item must note itself in the tally, which proves that it was done.
  let tally: Int
  /// Does `count` items, and returns the cost of one when all are done.
  let measure: @Sendable (_ count: Int) async -> Double

  /// A side that measures the cost of an item itself.
  init(
    measuring name: String, items: Int = 50_000, repeats: Int = 1, tally: Int = 1,
    _ measure: @escaping @Sendable (_ count: Int) async -> Double
  ) {
    self.name = name
    self.items = items
    self.repeats = repeats
    self.tally = tally
    self.measure = measure
  }

  /// A side that returns the duration of its measured part.
  init(
    timing name: String, items: Int = 50_000, repeats: Int = 1, tally: Int = 1,
    _ work: @escaping @Sendable (_ count: Int) async -> Duration
  ) {
    self.init(measuring: name, items: items, repeats: repeats, tally: tally) { count in
      await work(count).nanoseconds / Double(count)
    }
  }

  /// A side that is measured as a whole.
  init(
    _ name: String, items: Int = 50_000, repeats: Int = 1, tally: Int = 1,
    _ work: @escaping @Sendable (_ count: Int) async -> Void
  ) {
    self.init(timing: name, items: items, repeats: repeats, tally: tally) { count in
      await ContinuousClock().measure { await work(count) }
    }
  }
}

extension Side {
  /// The cost of an item, the mean of the repeats, and the nanoseconds of processor time that the
  /// process used for it, with what is not timed.
  func cost(_ divisor: Int) async -> (cost: Double, processorTime: Double) {
    var sum = 0.0
    let count = max(1, items / divisor)
    let before = ProcessUse.now
    for _ in 0..<repeats { sum += await measure(count) }
    let use = ProcessUse.now - before
    return (sum / Double(repeats), use.processorTime / Double(count * repeats))
  }

  /// Does the work once, unmeasured. Stops the program if too little or too much was done: its
  /// figures would be meaningless.
  func prove(_ divisor: Int, in contest: Contest) async {
    Tally.begin()
    let count = max(1, items / divisor)
    _ = await measure(count)
    let found = Tally.end()
    expect(found == count * tally, "\(contest.name), \(name): \(found) items of \(count) were done")
  }
}

extension Duration {
  var nanoseconds: Double {
    Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9
  }
}

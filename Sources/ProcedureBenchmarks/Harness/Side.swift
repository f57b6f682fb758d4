/// One contestant's way of doing the work of a contest.
struct Side: Sendable {
  let name: String
  /// How many items it does at once.
  let items: Int
  /// How often it does that in a round.
  let repeats: Int
  /// How often each item notes itself in the tally: the proof that it was done.
  let tally: Int
  /// Does so many items, and returns what one of them cost when all are done.
  let measure: @Sendable (_ count: Int) async -> Double

  /// A side that finds out by itself what an item cost.
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

  /// A side that says how long the part of it took that counts.
  init(
    timing name: String, items: Int = 50_000, repeats: Int = 1, tally: Int = 1,
    _ work: @escaping @Sendable (_ count: Int) async -> Duration
  ) {
    self.init(measuring: name, items: items, repeats: repeats, tally: tally) { count in
      await work(count).nanoseconds / Double(count)
    }
  }

  /// A side all of which counts.
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
  /// The cost of an item: the mean of the repeats.
  func cost(_ divisor: Int) async -> Double {
    var sum = 0.0
    for _ in 0..<repeats { sum += await measure(max(1, items / divisor)) }
    return sum / Double(repeats)
  }

  /// Does the work once, unmeasured. Stops the program if not all was done, or too much: its figures
  /// would say nothing.
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

/// One contestant's way of doing the work of a contest.
struct Entry: Sendable {
  let name: String
  let contestant: Contestant
  /// For an entry that cannot do as many items in reasonable time: it does one in `share`.
  let share: Int
  /// Does this many items instead of the contest's number: for the cost of large numbers.
  let size: Int?
  /// How often each item notes itself in the tally: the proof that it was done.
  let tally: Int
  /// Does `count` items, and returns the contest's figures when all are done.
  let measure: @Sendable (_ count: Int) async -> [Double]
}

extension Entry {
  /// An entry all of which counts.
  init(
    _ name: String, _ contestant: Contestant = .procedures, share: Int = 1, size: Int? = nil,
    tally: Int = 1, run: @escaping @Sendable (_ count: Int) async -> Void
  ) {
    self = .timed(name, contestant, share: share, size: size, tally: tally) { count in
      await ContinuousClock().measure { await run(count) }
    }
  }

  /// An entry that says how long the part of it took that counts.
  static func timed(
    _ name: String, _ contestant: Contestant = .procedures, share: Int = 1, size: Int? = nil,
    tally: Int = 1, _ run: @escaping @Sendable (_ count: Int) async -> Duration
  ) -> Entry {
    .measured(name, contestant, share: share, size: size, tally: tally) { count in
      [await run(count).nanoseconds / Double(count)]
    }
  }

  /// An entry that finds out its figures by itself.
  static func measured(
    _ name: String, _ contestant: Contestant = .procedures, share: Int = 1, size: Int? = nil,
    tally: Int = 1, _ run: @escaping @Sendable (_ count: Int) async -> [Double]
  ) -> Entry {
    Entry(
      name: name, contestant: contestant, share: share, size: size, tally: tally, measure: run)
  }
}

extension Duration {
  var nanoseconds: Double {
    Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9
  }
}

/// The decisions of one run: drawn from the seed, or given, and noted so that they can be given again.
struct SimulationDraws: Sendable {
  private var generator: SimulationGenerator
  /// What to decide instead of drawing, in order; after that always the first.
  private let script: [Int]?
  /// What was decided, whenever there was a choice.
  private(set) var made: [Int] = []

  init(seed: UInt64, script: [Int]?) {
    generator = SimulationGenerator(seed: seed)
    self.script = script
  }

  /// One of `count` that could be next.
  mutating func next(below count: Int) -> Int {
    guard count > 1 else { return 0 }
    return decide { Int(truncatingIfNeeded: $0 % UInt64(count)) }.clamped(below: count)
  }

  /// True once in so many times; never when it goes by a script that says nothing of it.
  mutating func happens(onceIn count: UInt64) -> Bool {
    decide { $0 % count == 0 ? 1 : 0 } != 0
  }

  private mutating func decide(_ draw: (UInt64) -> Int) -> Int {
    let decision: Int
    if let script {
      decision = made.count < script.count ? script[made.count] : 0
    } else {
      decision = draw(generator.next())
    }
    made.append(decision)
    return decision
  }
}

extension Int {
  fileprivate func clamped(below count: Int) -> Int { Swift.min(Swift.max(self, 0), count - 1) }
}

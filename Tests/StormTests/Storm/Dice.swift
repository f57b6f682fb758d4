/// Random numbers of which a seed gives the same ones again: splitmix64.
struct Dice: Sendable {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// Of `0..<sides`.
  mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(sides)) }

  /// True once in so many times.
  mutating func oneIn(_ count: Int) -> Bool { roll(count) == 0 }

  mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[roll(elements.count)]
  }

  /// Dice of their own, for another thread.
  mutating func split() -> Dice { Dice(seed: next()) }
}

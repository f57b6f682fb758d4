/// What the rounds of a contest found.
struct Samples: Codable {
  let rounds: Int
  /// How many items each entry did at once.
  let items: [Int]
  /// By entry, figure and round.
  let values: [[[Double]]]
  let referenceLoop: Summary
}

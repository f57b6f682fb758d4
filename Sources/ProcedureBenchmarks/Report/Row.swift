/// Where to find a figure.
struct RowName: Codable, Hashable {
  let contest: String
  let entry: String
  let size: Int?
  let figure: String

  init(_ contest: String, _ entry: String, size: Int? = nil, figure: String = "") {
    self.contest = contest
    self.entry = entry
    self.size = size
    self.figure = figure
  }

  /// Within its contest.
  var text: String {
    var text = entry
    if let size { text += " × \(size.grouped)" }
    if !figure.isEmpty { text += ", \(figure)" }
    return text
  }
}

/// A figure of one entry of a contest.
struct Row: Codable {
  let name: RowName
  let contestant: Contestant
  let unit: Unit
  /// How many items it did in a round, at once.
  let items: Int
  let share: Int
  let summary: Summary
  /// To the reference of its contest: the median of the rounds' ratios.
  let ratio: Double
  /// Whether the others are compared with this one.
  let isReference: Bool

  var isNoisy: Bool { summary.spread > Noise.mostSpread }
}

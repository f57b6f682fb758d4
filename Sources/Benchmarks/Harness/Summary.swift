/// What is said about some samples of one figure.
struct Summary: Codable, Equatable {
  let median: Double
  let minimum: Double
  let lowerQuartile: Double
  let upperQuartile: Double

  /// The distance of the quartiles as a part of the median: half of the samples lie that close.
  var spread: Double { median == 0 ? 0 : (upperQuartile - lowerQuartile) / median }

  init(_ samples: [Double]) {
    let sorted = samples.sorted()
    median = sorted.quantile(0.5)
    minimum = sorted.first ?? 0
    lowerQuartile = sorted.quantile(0.25)
    upperQuartile = sorted.quantile(0.75)
  }
}

extension [Double] {
  /// Of sorted values; between two of them it is interpolated.
  func quantile(_ part: Double) -> Double {
    guard let last = indices.last else { return 0 }
    let position = part * Double(last)
    let below = Int(position)
    let above = Swift.min(below + 1, last)
    return self[below] + (self[above] - self[below]) * (position - Double(below))
  }
}

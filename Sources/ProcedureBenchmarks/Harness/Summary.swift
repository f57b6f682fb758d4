/// What is said about some samples of one figure.
struct Summary: Codable, Equatable {
  let median: Double
  let minimum: Double
  let lowerQuartile: Double
  let upperQuartile: Double
  let upperDecile: Double

  /// The distance of the quartiles as a part of the median: half of the samples lie that close.
  var spread: Double { median == 0 ? 0 : (upperQuartile - lowerQuartile) / median }

  /// How much more than the median one in ten is at least, as a part of it.
  var tail: Double { median == 0 ? 0 : (upperDecile - median) / median }

  init(_ samples: [Double]) {
    let sorted = samples.sorted()
    median = sorted.quantile(0.5)
    minimum = sorted.first ?? 0
    lowerQuartile = sorted.quantile(0.25)
    upperQuartile = sorted.quantile(0.75)
    upperDecile = sorted.quantile(0.9)
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

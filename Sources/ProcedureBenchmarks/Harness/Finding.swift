internal import Foundation

/// The result of the rounds of a contest.
struct Finding: Sendable {
  enum Verdict: String, Encodable {
    /// Nothing is promised.
    case none = ""
    case met
    case aimReached = "met, aim reached"
    case notMet = "not met"
    case tooNoisy = "too noisy to decide"
  }

  let contest: Contest
  /// The cost of an item in each round.
  var ours: [Double] = []
  var theirs: [Double] = []

  /// The answers of the rounds, each from the pair of that round.
  var answers: [Double] {
    zip(ours, theirs).map { ours, theirs in
      switch contest.unit {
      case .nanoseconds: ours / theirs
      case .bytes: ours
      }
    }
  }

  var verdict: Verdict {
    guard let ceiling = contest.ceiling else { return .none }
    let below = answers.count { $0 <= ceiling }
    guard Self.isClear(below, of: answers.count) else { return .tooNoisy }
    guard 2 * below > answers.count else { return .notMet }
    return contest.aim.map { answers.quantile(0.5) <= $0 } == true ? .aimReached : .met
  }

  /// Whether so many votes on one side are more than chance gives in one of 20 cases, on either.
  static func isClear(_ votes: Int, of count: Int) -> Bool {
    let majority = max(votes, count - votes)
    var sum = 0.0
    // Logarithms: the chance of no head of a thousand coins is no Double.
    var chance = -Double(count) * log(2)
    for heads in 0...count {
      if heads >= majority { sum += exp(chance) }
      chance += log(Double(count - heads) / Double(heads + 1))
    }
    return sum <= 0.025
  }
}

extension [Double] {
  /// The quantile: this part of the values does not exceed it. Interpolated between two values.
  func quantile(_ part: Double) -> Double {
    let sorted = sorted()
    guard let last = sorted.indices.last else { return 0 }
    let position = part * Double(last)
    let below = Int(position)
    let above = Swift.min(below + 1, last)
    return sorted[below] + (sorted[above] - sorted[below]) * (position - Double(below))
  }
}

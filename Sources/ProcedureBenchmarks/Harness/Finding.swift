internal import Foundation

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
  /// The costs of an item, one for each round.
  var ours: [Double] = []
  var theirs: [Double] = []
  /// Our processor time divided by theirs, one for each round; empty for bytes.
  var processorTimes: [Double] = []

  /// The answers, each from the two costs of one round.
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

  /// Whether `votes` differ from one half so clearly that chance gives it in at most one of 20
  /// cases (both sides counted).
  static func isClear(_ votes: Int, of count: Int) -> Bool {
    let majority = max(votes, count - votes)
    var sum = 0.0
    // It adds logarithms, since the chance of no head in a thousand coins is too small for a
    // Double.
    var chance = -Double(count) * log(2)
    for heads in 0...count {
      if heads >= majority { sum += exp(chance) }
      chance += log(Double(count - heads) / Double(heads + 1))
    }
    return sum <= 0.025
  }
}

extension [Double] {
  /// The value that this part of the values does not exceed, interpolated between two values.
  func quantile(_ part: Double) -> Double {
    let sorted = sorted()
    guard let last = sorted.indices.last else { return 0 }
    let position = part * Double(last)
    let below = Int(position)
    let above = Swift.min(below + 1, last)
    return sorted[below] + (sorted[above] - sorted[below]) * (position - Double(below))
  }
}

/// A line of the cost table: what something may cost, and what it should.
struct Ceiling: Sendable {
  let what: String
  let quantity: Quantity
  let unit: CostUnit
  let ceiling: Double
  /// nil where it is a multiple of what is not measured here.
  let aim: Double?
}

/// What the figures of a line of the cost table are.
enum CostUnit: String, Codable {
  case times = "×"
  case nanoseconds = "ns"
  case bytes

  func text(_ value: Double) -> String {
    switch self {
    case .times: "\(value.fixed(2)) ×"
    case .nanoseconds: "\(value.short) ns"
    case .bytes: "\(Int(value.rounded()).grouped) bytes"
    }
  }
}

/// A line of the cost table: what something may cost, and what it should.
struct Ceiling: Sendable {
  let what: String
  let quantity: Quantity
  let unit: CostUnit
  let ceiling: Double
  /// nil where it is a multiple of what is not measured here.
  let aim: Double?

  init(
    _ what: String, _ quantity: Quantity, _ unit: CostUnit, _ ceiling: Double, aim: Double? = nil
  ) {
    self.what = what
    self.quantity = quantity
    self.unit = unit
    self.ceiling = ceiling
    self.aim = aim
  }
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

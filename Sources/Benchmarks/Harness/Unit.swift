/// What a figure counts, for each item.
enum Unit: String, Codable {
  case nanoseconds = "ns"
  case bytes

  /// How the figures of a contest are introduced.
  var label: String {
    switch self {
    case .nanoseconds: "ns an item"
    case .bytes: "bytes an item"
    }
  }
}

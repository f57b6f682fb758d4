/// What a figure counts, for each item.
enum Unit: String, Codable {
  case nanoseconds = "ns"
  case bytes
}

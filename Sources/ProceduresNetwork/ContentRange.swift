internal import Foundation
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The part of the whole that a response with status 206 contains: its `Content-Range`, such as
/// `bytes 100-199/200`.
struct ContentRange: Equatable {
  let start: Int64
  /// Nil if the server does not know it.
  let total: Int64?

  /// Nil for a complete response, or if the header cannot be parsed.
  init?(of response: HTTPURLResponse) {
    guard response.statusCode == 206,
      let words = response.value(forHTTPHeaderField: "Content-Range")?.split(separator: " "),
      words.count == 2, words[0].lowercased() == "bytes"
    else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, ends.count == 2, let start = Int64(ends[0]), let end = Int64(ends[1]),
      start >= 0, end >= start
    else { return nil }
    self.start = start
    total = Int64(parts[1])
    guard total ?? .max > end, total != nil || parts[1] == "*" else { return nil }
  }
}

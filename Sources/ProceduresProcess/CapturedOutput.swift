#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The last bytes of an output, at most so many.
struct CapturedOutput: Sendable {
  private let limit: Int
  /// Those, and some before them: so a flood is moved in memory only now and then.
  private var bytes = Data()
  private var dropped = 0

  init(atMost limit: Int) { self.limit = max(limit, 0) }

  mutating func append(_ piece: [UInt8]) {
    bytes.append(contentsOf: piece)
    if bytes.count - limit > max(limit / 4, 65_536) { trim() }
  }

  /// The part that is kept, and how many bytes came before it.
  mutating func take() -> (bytes: Data, dropped: Int) {
    if bytes.count > limit { trim() }
    defer { bytes = Data() }
    return (bytes, dropped)
  }

  var end: OutputEnd { OutputEnd(of: bytes.suffix(limit)) }

  private mutating func trim() {
    dropped += bytes.count - limit
    bytes = Data(bytes.suffix(limit))
  }
}

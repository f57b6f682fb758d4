#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The last bytes of an output, at most `limit`.
package struct CapturedOutput: Sendable {
  private let limit: Int
  /// The last bytes, and some before them: so a flood of output is moved in memory only now and
  /// then.
  private var bytes = Data()
  private var dropped = 0

  package init(atMost limit: Int) { self.limit = max(limit, 0) }

  package mutating func append(_ piece: [UInt8]) {
    bytes.append(contentsOf: piece)
    if bytes.count - limit > max(limit / 4, 65_536) { trim() }
  }

  /// The kept bytes, and the number of bytes before them.
  package mutating func take() -> (bytes: Data, dropped: Int) {
    if bytes.count > limit { trim() }
    defer { bytes = Data() }
    return (bytes, dropped)
  }

  package var end: OutputEnd { OutputEnd(of: bytes.suffix(limit)) }

  private mutating func trim() {
    dropped += bytes.count - limit
    bytes = Data(bytes.suffix(limit))
  }
}

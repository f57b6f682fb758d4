/// The source of a timeline's span and trace ids: an entry's number always gives the same id, and
/// another one in each other timeline.
struct TraceIdentity: Sendable {
  private let high: UInt64
  private let low: UInt64

  /// Used in virtual time, so that the same seed gives the same bytes.
  static let ofTests = TraceIdentity(high: 0, low: 0)

  static func random() -> TraceIdentity {
    TraceIdentity(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
  }

  /// Returns the span id of an entry.
  func span(_ entry: Int) -> String { Self.text(scattered(low, entry)) }

  /// Returns the id of the trace that begins with an entry.
  func trace(ofEntry entry: Int) -> String {
    Self.text(scattered(high, entry)) + Self.text(scattered(~low, entry))
  }

  /// Returns the trace id of a recorded group. Negative numbers keep it apart from entries.
  func trace(ofRoot root: Int) -> String { trace(ofEntry: -1 - root) }

  /// Sixteen digits, never all zeros, which is not a valid id.
  private static func text(_ number: UInt64) -> String {
    NumberText.padded(String(number == 0 ? .max : number, radix: 16), to: 16)
  }

  /// Maps different entries to different numbers, since each step can be undone. Each bit depends
  /// on all bits of both arguments.
  private func scattered(_ seed: UInt64, _ entry: Int) -> UInt64 {
    var bits = seed &+ UInt64(bitPattern: Int64(entry))
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] as [UInt64] {
      bits ^= bits >> 33
      bits &*= factor
    }
    return bits ^ bits >> 33
  }
}

/// The header `traceparent` of a request, in the format of W3C Trace Context: the caller's trace
/// and span.
struct IncomingTrace: Sendable {
  let trace: String
  let span: String
  let flags: UInt8

  /// Returns nil if it is invalid. The standard then requires a new trace.
  init?(_ header: String) {
    let parts = header.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, zip(parts, [2, 32, 16, 2]).allSatisfy(Self.isHexadecimal),
      // Later versions may have more fields.
      parts[0] != "ff", parts[0] != "00" || parts.count == 4,
      parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" }),
      let flags = UInt8(parts[3], radix: 16)
    else { return nil }
    (trace, span, self.flags) = (String(parts[1]), String(parts[2]), flags)
  }

  private static func isHexadecimal(_ text: Substring, digits: Int) -> Bool {
    text.utf8.count == digits
      && text.utf8.allSatisfy {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
      }
  }
}

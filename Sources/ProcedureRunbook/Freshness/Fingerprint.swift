/// A hash of texts and contents of files: equal for equal ones, and very rarely for others. It does
/// not protect against deliberate collisions.
struct Fingerprint: Hashable, Sendable {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  init() {}

  /// Reads it from its text; nil if that is not valid.
  init?(_ text: ArraySlice<UInt8>) {
    guard 1...16 ~= text.count else { return nil }
    value = 0
    for byte in text {
      switch byte {
      case 0x30...0x39: value = value << 4 | UInt64(byte - 0x30)
      case 0x61...0x66: value = value << 4 | UInt64(byte - 0x57)
      default: return nil
      }
    }
  }

  // Odd numbers with bits set all over.
  private static let first: UInt64 = 0x9E37_79B1_85EB_CA87
  private static let second: UInt64 = 0xC2B2_AE3D_27D4_EB4F

  /// The order counts: a later number cannot cancel an earlier one.
  mutating func add(_ number: UInt64) {
    value = (value ^ number) &* Self.first
    value ^= value >> 29
  }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { unsafe add(UnsafeRawBufferPointer($0)) }
  }

  mutating func add(_ time: FileTime) {
    add(UInt64(bitPattern: Int64(time.seconds)))
    add(UInt64(bitPattern: Int64(time.nanoseconds)))
  }

  mutating func add(_ path: FilePath) {
    unsafe path.bytes.withUnsafeBytes { unsafe add($0) }
  }

  mutating func add(_ texts: [String]) {
    add(UInt64(texts.count))
    for text in texts { add(text) }
  }

  /// Adds the bytes and their number, so that "ab", "c" is not "a", "bc".
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    // Four independent sums let the processor work on all of them at once.
    var (a, b, c, d) = (value, value &+ Self.first, value ^ Self.second, ~value)
    var offset = 0
    while offset + 32 <= bytes.count {
      a = unsafe Self.sum(a, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      b = unsafe Self.sum(b, bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
      c = unsafe Self.sum(c, bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self))
      d = unsafe Self.sum(d, bytes.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self))
      offset += 32
    }
    if offset > 0 { for sum in [a, b, c, d] { add(sum) } }
    while offset < bytes.count {
      unsafe add(UInt64(bytes[offset]))
      offset += 1
    }
    add(UInt64(bytes.count))
  }

  private static func sum(_ sum: UInt64, _ word: UInt64) -> UInt64 {
    let mixed = sum &+ word &* second
    return (mixed << 31 | mixed >> 33) &* first
  }

  var text: String { String(value, radix: 16) }
}

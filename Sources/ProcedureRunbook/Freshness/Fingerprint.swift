#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A number that stands for texts and contents of files (FNV-1a, 64 bits): equal when these are, and
/// hardly ever else. Not meant against those who want two to be equal.
struct Fingerprint: Equatable {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    // So that "ab", "c" is not "a", "bc": no text contains this byte.
    value = (value ^ 0xFF) &* 0x100_0000_01B3
  }

  /// False when the file cannot be read.
  mutating func addFile(_ path: String) -> Bool {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe read(descriptor, &piece, piece.count)
      if count == 0 { return true }
      if count < 0 {
        if errno == EINTR { continue }
        return false
      }
      add(piece[..<count])
    }
  }

  var text: String { String(value, radix: 16) }
}

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Cuts the output of a step into lines, and remembers the last ones.
///
/// Lines are bytes: most of them are only handed on, and what is no text stays as it is.
struct OutputLines {
  typealias Line = ArraySlice<UInt8>

  private static let longest = 4096
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")

  private let capacity: Int
  private var lastLines: [Line] = []
  /// The beginning of a line that has no end yet.
  private var rest: [UInt8] = []

  init(capacity: Int = 20) { self.capacity = capacity }

  /// The last complete lines, at most `capacity` of them.
  var last: [String] { lastLines.map { String(decoding: $0, as: UTF8.self) } }

  /// Takes a piece of output and returns the lines it completes.
  mutating func append(_ data: Data) -> [Line] {
    var lines: [Line] = []
    var bytes = (rest + data)[...]
    let hasReturns = Self.index(of: Self.carriageReturn, in: bytes) != nil
    while let end = Self.index(of: Self.lineFeed, in: bytes) {
      take(bytes[..<end], hasReturns, &lines)
      bytes = bytes[(end + 1)...]
    }
    if bytes.count > Self.longest { bytes = takeLong(bytes, hasReturns, &lines) }
    rest = Array(bytes)
    remember(lines)
    return lines
  }

  /// Takes lines of somebody else: what is not ended yet goes on behind them.
  mutating func insert(_ text: some Sequence<UInt8>) -> [Line] {
    let lines = Array(text).split(separator: Self.lineFeed)
    remember(lines)
    return lines
  }

  /// The line that was not ended, if there is one.
  mutating func end() -> [Line] {
    guard !rest.isEmpty else { return [] }
    var lines: [Line] = []
    take(rest[...], true, &lines)
    rest = []
    remember(lines)
    return lines
  }

  private func take(_ bytes: Line, _ hasReturns: Bool, _ lines: inout [Line]) {
    let line = bytes.count > Self.longest ? takeLong(bytes, hasReturns, &lines) : bytes
    lines.append(hasReturns ? Self.shown(line) : line)
  }

  /// A program that never ends its line gets it ended, before a character and not inside. Returns the rest.
  private func takeLong(_ bytes: Line, _ hasReturns: Bool, _ lines: inout [Line]) -> Line {
    var bytes = bytes
    while bytes.count > Self.longest {
      let longest = bytes.startIndex + Self.longest
      var end = longest
      while end > longest - 4, bytes[end] & 0xC0 == 0x80 { end -= 1 }
      // Not UTF-8 anyway.
      if bytes[end] & 0xC0 == 0x80 { end = longest }
      lines.append(hasReturns ? Self.shown(bytes[..<end]) : bytes[..<end])
      bytes = bytes[end...]
    }
    return bytes
  }

  /// Progress that overwrites its own line with carriage returns is shown as it would end up.
  private static func shown(_ line: Line) -> Line {
    var line = line
    while line.last == carriageReturn { line.removeLast() }
    if let start = line.lastIndex(of: carriageReturn) { line = line[(start + 1)...] }
    return line
  }

  /// Copied, so that they do not keep the pieces that they were in.
  private mutating func remember(_ lines: [Line]) {
    lastLines += lines.suffix(capacity).map { Array($0)[...] }
    lastLines.removeFirst(max(0, lastLines.count - capacity))
  }

  private static func index(of byte: UInt8, in bytes: Line) -> Int? {
    unsafe bytes.withUnsafeBytes { buffer in
      guard let start = buffer.baseAddress,
        let found = unsafe memchr(start, Int32(byte), buffer.count)
      else { return nil }
      return unsafe bytes.startIndex + (UnsafeRawPointer(found) - start)
    }
  }
}

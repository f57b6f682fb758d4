#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Cuts the output of a step into lines, and remembers the last ones.
struct OutputLines {
  /// The last complete lines, at most `capacity` of them.
  private(set) var last: [String] = []
  private let capacity: Int
  private var rest: [UInt8] = []
  private static let longest = 4096

  init(capacity: Int = 20) { self.capacity = capacity }

  /// Takes a piece of output and returns the lines it completes.
  mutating func append(_ data: Data) -> [String] {
    var lines: [String] = []
    var bytes = Array(data)[...]
    while let end = bytes.firstIndex(of: 0x0A) {
      rest += bytes[..<end]
      bytes = bytes[(end + 1)...]
      takeLongLines(&lines)
      lines.append(take(rest.count))
    }
    rest += bytes
    takeLongLines(&lines)
    return lines
  }

  /// The line that was not ended, if there is one.
  mutating func end() -> [String] { rest.isEmpty ? [] : [take(rest.count)] }

  /// A program that never ends its line gets it ended, before a character and not inside.
  private mutating func takeLongLines(_ lines: inout [String]) {
    while rest.count > Self.longest {
      var end = Self.longest
      while end > Self.longest - 4, rest[end] & 0xC0 == 0x80 { end -= 1 }
      // Not UTF-8 anyway.
      if rest[end] & 0xC0 == 0x80 { end = Self.longest }
      lines.append(take(end))
    }
  }

  private mutating func take(_ count: Int) -> String {
    var text = String(decoding: rest[..<count], as: UTF8.self)
    rest.removeFirst(count)
    // Progress that overwrites its own line with carriage returns is shown as it would end up.
    while text.hasSuffix("\r") { text.removeLast() }
    if let start = text.lastIndex(of: "\r") { text = String(text[text.index(after: start)...]) }
    last.append(text)
    if last.count > capacity { last.removeFirst() }
    return text
  }
}

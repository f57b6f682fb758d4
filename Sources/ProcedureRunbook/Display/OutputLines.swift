import Foundation

/// Cuts the output of a step into lines, and remembers the last ones.
struct OutputLines {
  /// The last complete lines, at most `capacity` of them.
  private(set) var last: [String] = []
  private let capacity: Int
  private var rest: [UInt8] = []

  init(capacity: Int = 20) { self.capacity = capacity }

  /// Takes a piece of output and returns the lines it completes.
  mutating func append(_ data: Data) -> [String] {
    var lines: [String] = []
    for byte in data {
      // A program that never ends its line gets it ended.
      if byte == 0x0A || rest.count >= 4096 { lines.append(takeLine()) }
      if byte != 0x0A { rest.append(byte) }
    }
    return lines
  }

  /// The line that was not ended, if there is one.
  mutating func end() -> [String] { rest.isEmpty ? [] : [takeLine()] }

  private mutating func takeLine() -> String {
    var text = String(decoding: rest, as: UTF8.self)
    rest.removeAll(keepingCapacity: true)
    // Progress that overwrites its own line with carriage returns is shown as it would end up.
    while text.hasSuffix("\r") { text.removeLast() }
    if let start = text.lastIndex(of: "\r") { text = String(text[text.index(after: start)...]) }
    last.append(text)
    if last.count > capacity { last.removeFirst() }
    return text
  }
}

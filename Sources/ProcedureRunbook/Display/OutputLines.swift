#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

import ProceduresProcess

/// Cuts the output of a step into lines, and remembers the last ones.
///
/// Lines are bytes: most of them are only handed on, and what is no text stays as it is.
struct OutputLines {
  typealias Line = LineCutter.Line

  private static let longest = 4096
  private static let carriageReturn = UInt8(ascii: "\r")

  private let capacity: Int
  private var lastLines: [Line] = []
  private var cutter = LineCutter(longest: longest)
  /// Whether the line that has no end yet may have a carriage return.
  private var mayReturn = false

  init(capacity: Int = 20) { self.capacity = capacity }

  /// The last complete lines, at most `capacity` of them.
  var last: [String] { lastLines.map { String(decoding: $0, as: UTF8.self) } }

  /// Takes a piece of output and returns the lines it completes.
  mutating func append(_ data: Data) -> [Line] {
    // Most output has none: one search is enough for many lines.
    let returns = LineCutter.contains(Self.carriageReturn, data)
    let lines = cutter.append(data)
    let mayReturn = returns || mayReturn
    self.mayReturn = lines.isEmpty ? mayReturn : returns
    return remember(mayReturn ? lines.map(Self.shown) : lines)
  }

  /// Takes lines that are not the step's own: a line of the step that has no end yet goes on behind them.
  mutating func insert(_ text: some Sequence<UInt8>) -> [Line] {
    remember(Array(text).split(separator: LineCutter.lineFeed).map(Self.shown))
  }

  /// The line that was not ended, if there is one.
  mutating func end() -> [Line] { remember(cutter.end().map(Self.shown)) }

  /// Progress that overwrites its own line with carriage returns is shown as it would end up.
  private static func shown(_ line: Line) -> Line {
    guard LineCutter.index(of: carriageReturn, in: line) != nil else { return line }
    var line = line
    while line.last == carriageReturn { line.removeLast() }
    if let start = line.lastIndex(of: carriageReturn) { line = line[(start + 1)...] }
    return line
  }

  /// Copied, so that they do not keep the pieces that they were in.
  private mutating func remember(_ lines: [Line]) -> [Line] {
    lastLines += lines.suffix(capacity).map { Array($0)[...] }
    lastLines.removeFirst(max(0, lastLines.count - capacity))
    return lines
  }
}

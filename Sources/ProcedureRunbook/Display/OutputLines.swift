#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

import ProceduresProcess

/// Cuts the output of a step into lines, and keeps the last ones.
///
/// Lines are bytes: most of them are only passed on, and bytes that are not UTF-8 stay as they are.
struct OutputLines {
  typealias Line = LineCutter.Line

  private static let longest = 4096
  private static let carriageReturn = UInt8(ascii: "\r")

  private let capacity: Int
  private var lastLines: [Line] = []
  private var cutter = LineCutter(longest: longest)
  /// Whether the unfinished line may contain a carriage return.
  private var mayReturn = false

  init(capacity: Int = 20) { self.capacity = capacity }

  /// The last complete lines, at most `capacity` of them.
  var last: [String] { lastLines.map { String(decoding: $0, as: UTF8.self) } }

  /// Appends a piece of output and returns the lines that it completes.
  mutating func append(_ data: Data) -> [Line] {
    // Most output has no carriage return: one search is enough for many lines.
    let returns = LineCutter.contains(Self.carriageReturn, data)
    let lines = cutter.append(data)
    let mayReturn = returns || mayReturn
    self.mayReturn = lines.isEmpty ? mayReturn : returns
    return remember(mayReturn ? lines.map(Self.shown) : lines)
  }

  /// Adds lines that the step did not write. An unfinished line of the step goes on behind them.
  mutating func insert(_ text: some Sequence<UInt8>) -> [Line] {
    remember(Array(text).split(separator: LineCutter.lineFeed).map(Self.shown))
  }

  /// Returns the unfinished last line, if there is one.
  mutating func end() -> [Line] { remember(cutter.end().map(Self.shown)) }

  /// Progress that overwrites its line with carriage returns is shown in its final form.
  private static func shown(_ line: Line) -> Line {
    guard LineCutter.index(of: carriageReturn, in: line) != nil else { return line }
    var line = line
    while line.last == carriageReturn { line.removeLast() }
    if let start = line.lastIndex(of: carriageReturn) { line = line[(start + 1)...] }
    return line
  }

  /// The last lines are copied, so that they do not keep the pieces of output in memory.
  private mutating func remember(_ lines: [Line]) -> [Line] {
    lastLines += lines.suffix(capacity).map { Array($0)[...] }
    lastLines.removeFirst(max(0, lastLines.count - capacity))
    return lines
  }
}

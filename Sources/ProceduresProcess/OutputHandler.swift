#if os(macOS) || os(Linux)
  internal import Synchronization
  #if canImport(FoundationEssentials)
    package import FoundationEssentials
  #else
    package import Foundation
  #endif

  /// Passes output to the user's closure, on handler threads, one call at a time.
  ///
  /// ```
  /// handing over ──cutShort──▶ keeping back ──end──▶ the last lines
  /// ```
  ///
  /// After a cancel the running call of the user's closure is the last for the output that was read
  /// before. The end of the later output, perhaps a program's last words, is handed over when the
  /// output has ended.
  package final class OutputHandler: @unchecked Sendable {
    private enum Destination {
      case pieces(@Sendable (Data) -> Void)
      case lines(@Sendable (String) -> Void)
    }

    private static let longestLine = 65_536
    /// The limits of the output that is handed over after a cancel.
    private static let (lastLineCount, lastByteCount) = (100, 65_536)

    private let destination: Destination
    private let isCutShort = Atomic(false)
    // Used only by the calls, which do not overlap.
    private var cutter = LineCutter(longest: longestLine)
    private var lastLines: [[UInt8]] = []
    private var lastBytes = Data()

    /// Nil if no handler receives the output.
    package init?(for output: ProcessOutput) {
      switch output {
      case .streamed(let closure): destination = .pieces(closure)
      case .lines(let closure): destination = .lines(closure)
      case .captured, .file, .inherited, .discarded: return nil
      }
    }

    /// Called when the program is cancelled. May be called from any thread.
    package func cutShort() { isCutShort.store(true, ordering: .relaxed) }

    package func take(_ data: Data) {
      switch destination {
      case .pieces(let closure):
        if wasCutShort {
          lastBytes = (lastBytes + data).suffix(Self.lastByteCount)
        } else {
          closure(data)
        }
      case .lines(let closure): handOver(cutter.append(data), to: closure)
      }
    }

    /// Whether `end()` may have output to hand over.
    package var mayHaveMore: Bool {
      switch destination {
      case .pieces: !lastBytes.isEmpty
      case .lines: true
      }
    }

    /// Called after the last piece.
    package func end() {
      switch destination {
      case .pieces(let closure):
        if !lastBytes.isEmpty { closure(lastBytes) }
        lastBytes = Data()
      case .lines(let closure):
        handOver(cutter.end(), to: closure)
        for line in lastLines { closure(Self.text(line[...])) }
        lastLines = []
      }
    }

    private func handOver(_ lines: [LineCutter.Line], to closure: (String) -> Void) {
      for (place, line) in lines.enumerated() {
        if wasCutShort {
          lastLines += lines[place...].suffix(Self.lastLineCount).map { Array($0) }
          lastLines = lastLines.suffix(Self.lastLineCount)
          return
        }
        closure(Self.text(line))
      }
    }

    private var wasCutShort: Bool { isCutShort.load(ordering: .relaxed) }

    private static func text(_ line: LineCutter.Line) -> String {
      let isEndedByReturn = line.last == UInt8(ascii: "\r")
      return String(decoding: isEndedByReturn ? line.dropLast() : line, as: UTF8.self)
    }
  }
#endif

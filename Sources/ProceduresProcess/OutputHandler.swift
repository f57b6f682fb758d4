#if os(macOS) || os(Linux)
  #if canImport(FoundationEssentials)
    package import FoundationEssentials
  #else
    package import Foundation
  #endif

  /// Takes output that is not kept, on handler threads, one call at a time.
  package struct OutputHandler: Sendable {
    package let take: @Sendable (Data) -> Void
    /// Called after the last piece; nil if that makes no difference.
    package let end: (@Sendable () -> Void)?

    /// Nil if no handler receives the output.
    package init?(for output: ProcessOutput) {
      switch output {
      case .streamed(let closure): (take, end) = (closure, nil)
      case .lines(let closure):
        let lines = Lines(closure)
        (take, end) = ({ lines.take($0) }, { lines.end() })
      case .captured, .file, .inherited, .discarded: return nil
      }
    }

    private final class Lines: @unchecked Sendable {
      private static let longest = 65_536

      @safe private var cutter = LineCutter(longest: longest)
      private let handler: @Sendable (String) -> Void

      init(_ handler: @escaping @Sendable (String) -> Void) { self.handler = handler }

      func take(_ data: Data) { handOver(cutter.append(data)) }
      func end() { handOver(cutter.end()) }

      private func handOver(_ lines: [LineCutter.Line]) {
        for line in lines {
          let isEndedByReturn = line.last == UInt8(ascii: "\r")
          handler(String(decoding: isEndedByReturn ? line.dropLast() : line, as: UTF8.self))
        }
      }
    }
  }
#endif

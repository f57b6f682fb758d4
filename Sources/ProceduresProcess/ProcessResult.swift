#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The result of a program that ended: its exit and the output that was captured.
public struct ProcessResult: Sendable {
  /// How the program ended.
  public let exit: ProcessExit
  /// Its standard output; empty unless that was `.captured`.
  public let output: Data
  /// Its standard error; empty unless that was `.captured` on its own.
  public let errorOutput: Data
  /// How many bytes were captured and not kept, of both outputs together: see
  /// `ProcessConfiguration.mostCapturedBytes`. The last bytes were kept.
  public let droppedByteCount: Int
  /// The time from its start to its end; programs that it left running, and waits for its output,
  /// do not count.
  public let duration: Duration
  /// The end of its standard error, wherever that went, unless the procedure never saw it.
  let errorOutputEnd: OutputEnd
  /// What it left running and was ended because of `endsDescendants`, as `sleep 60 (process 4711)`; nil if nothing
  /// was. Empty where the system does not say what that was.
  package let endedDescendants: [String]?

  package init(
    exit: ProcessExit, output: Data, errorOutput: Data, droppedByteCount: Int = 0,
    duration: Duration, errorOutputEnd: OutputEnd = OutputEnd(),
    endedDescendants: [String]? = nil
  ) {
    self.exit = exit
    self.output = output
    self.errorOutput = errorOutput
    self.droppedByteCount = droppedByteCount
    self.duration = duration
    self.errorOutputEnd = errorOutputEnd
    self.endedDescendants = endedDescendants
  }

  /// The captured standard output as text; bytes that are not UTF-8 become U+FFFD.
  public var outputText: String { String(decoding: output, as: UTF8.self) }
  /// The captured standard error as text; bytes that are not UTF-8 become U+FFFD.
  public var errorText: String { String(decoding: errorOutput, as: UTF8.self) }
}

extension ProcessResult: CustomStringConvertible {
  /// For example `exited with status 0 after 0.25 seconds, with 12 bytes of output`.
  public var description: String {
    let bytes = [(output, "output"), (errorOutput, "error output")].filter { !$0.0.isEmpty }
      .map { "\($0.0.count) bytes of \($0.1)" }.joined(separator: " and ")
    return "\(exit) after \(duration)" + (bytes.isEmpty ? "" : ", with \(bytes)")
      + (droppedByteCount == 0 ? "" : ", and \(droppedByteCount) bytes before that not kept")
  }
}

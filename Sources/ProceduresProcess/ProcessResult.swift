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
  /// The number of captured bytes of both outputs that were not kept: see
  /// `ProcessConfiguration.mostCapturedBytes`. The last bytes were kept.
  public let droppedByteCount: Int
  /// The time from its start to its end, without programs that it left running, and waits for its
  /// output.
  public let duration: Duration
  /// The end of its standard error, if that passed through this process.
  let errorOutputEnd: OutputEnd
  /// The descendants that were ended because of `endsDescendants`, each as `sleep 60 (process
  /// 4711)`; nil if there were none. Empty if the system does not list them.
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

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The destination of a program's standard output, or standard error.
public enum ProcessOutput: Sendable {
  /// Kept in memory, for the `ProcessResult`: the last `mostCapturedBytes` of it.
  case captured
  /// Handed over piece by piece as the program writes it, in order, and not kept.
  ///
  /// The closure is called on a thread of this module's own, never twice at once. While it runs
  /// nothing more is read: a slow closure slows the program down instead of filling the memory. It
  /// may block; at most sixteen closures of the process run at the same time, and others wait for
  /// them. A blocked closure does not keep the program from being ended, but the procedure finishes
  /// only after it has returned.
  ///
  /// After a cancel of the procedure the running call is the last for the output that was read
  /// before. When the program has ended, one call hands over the last 64 KB of the later output.
  case streamed(@Sendable (Data) -> Void)
  /// Handed over line by line, without the line ends, and not kept; otherwise like `streamed`.
  ///
  /// A line ends with a line feed, before which a carriage return is dropped, or with the output. A
  /// line of more than 64 KB is split, so that a program that never ends its line fills no memory.
  /// Bytes that are not UTF-8 become U+FFFD.
  ///
  /// After a cancel of the procedure the running call is the last for the output that was read
  /// before, even if lines wait. When the program has ended, the last hundred lines of the later
  /// output are handed over: its last words.
  ///
  /// ```swift
  /// build.standardOutput = .lines { line in print("build: \(line)") }
  /// ```
  case lines(@Sendable (String) -> Void)
  /// Written to a file, which is created if it does not exist, and emptied unless `appending`.
  ///
  /// The program writes to it directly, not through this process. A relative path starts at the
  /// program's `directory`. Standard output and standard error may go to the same file. A named
  /// pipe blocks a worker until its other end is open.
  case file(String, appending: Bool = false)
  /// Goes where the output of this process goes.
  case inherited
  /// Discarded.
  case discarded
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The destination of a program's standard output, or standard error.
public enum ProcessOutput: Sendable {
  /// Kept in memory, and found in the `ProcessResult`: the last `mostCapturedBytes` of it.
  case captured
  /// Handed over piece by piece as the program writes it, in order, and not kept.
  ///
  /// The closure is called on a thread of this module's own, never twice at once. While it runs
  /// nothing more is read: a slow closure slows the program down instead of filling the memory. It
  /// may block; at most sixteen do so at the same time, in the process, and others wait for them. It
  /// keeps no program from being ended, but the procedure finishes after it has returned.
  ///
  /// After a cancel of the procedure the call that runs is the last for what was read. Of all that follows the
  /// last 64 KB are handed over, in one call, when the program has ended.
  case streamed(@Sendable (Data) -> Void)
  /// Handed over line by line, without their ends, and not kept; else as `streamed`.
  ///
  /// A line ends with a line feed, before which a carriage return is dropped, or with the output. One of more than 64 KB
  /// comes in several, so that a program that never ends its line fills no memory. Bytes that are not UTF-8 become U+FFFD.
  ///
  /// After a cancel of the procedure the call that runs is the last for what was read, however many lines wait. Of all
  /// that follows the last hundred lines are handed over when the program has ended: its last words.
  ///
  /// ```swift
  /// build.standardOutput = .lines { line in print("build: \(line)") }
  /// ```
  case lines(@Sendable (String) -> Void)
  /// Goes to a file, which is made if it is not there, and emptied unless `appending`.
  ///
  /// The program writes to it directly, and nothing of it is in our memory. A relative path starts at the
  /// program's `directory`. Standard output and standard error may go to the same file. A named pipe blocks
  /// a worker until its other end is open.
  case file(String, appending: Bool = false)
  /// Goes where the output of this process goes.
  case inherited
  /// Thrown away.
  case discarded
}

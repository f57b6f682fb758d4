#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The standard input of a program.
public enum ProcessInput: Sendable {
  /// Nothing: the first read meets the end of the file.
  case none
  /// These bytes, then the end. A program that stops reading early is not an error.
  case data(Data)
  /// Bytes that are written while the program runs.
  case stream(ProcessInputStream)
  /// The contents of a file. A relative path starts at the program's `directory`.
  case file(String)
  /// The standard input of this process.
  ///
  /// For a terminal, also set `terminal = .foreground`: otherwise the program and this process read
  /// it in turns, and Ctrl-C does not reach the program.
  case inherited

  /// The UTF-8 bytes of a string, then the end.
  public static func text(_ text: String) -> ProcessInput { .data(Data(text.utf8)) }
}

extension ProcessInput? {
  var stream: ProcessInputStream? {
    if case .stream(let stream) = self { stream } else { nil }
  }
}

public import Foundation

/// What a program reads on its standard input.
public enum ProcessInput: Sendable {
  /// Nothing: the first read meets the end of the file.
  case none
  /// These bytes, then the end. A program that stops reading early is not an error.
  case data(Data)
  /// The standard input of this process.
  ///
  /// The program is in a process group of its own, so the system stops it when it reads a terminal.
  /// Meant for files and pipes.
  case inherited

  /// The UTF-8 bytes of a string, then the end.
  public static func text(_ text: String) -> ProcessInput { .data(Data(text.utf8)) }
}

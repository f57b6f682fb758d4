/// The error of a program that could not be run, or ended without success. It always names the
/// program.
///
/// A struct with a code, so that a new kind of error does not break an exhaustive `switch` of
/// yours.
public struct ProcessError: Error, Sendable, CustomStringConvertible {
  /// The kinds of error.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// Its name.
    public let description: String

    /// There is no such program: neither at that path, nor in the directories of `PATH`.
    public static let programNotFound = Code(description: "programNotFound")
    /// The file exists, but it may not be, or cannot be, executed.
    public static let notExecutable = Code(description: "notExecutable")
    /// The working directory does not exist, is not a directory, or may not be entered.
    public static let directoryNotFound = Code(description: "directoryNotFound")
    /// A file for its input or output could not be opened.
    public static let fileNotOpened = Code(description: "fileNotOpened")
    /// The system refused for another reason, which `description` gives.
    public static let notStarted = Code(description: "notStarted")
    /// The program ran and ended with a status that does not count as success, or by a signal.
    public static let unsuccessful = Code(description: "unsuccessful")
  }

  /// The kind of error.
  public let code: Code
  /// The program, as it was given.
  public let program: String
  /// The result of the program, if it ran at all.
  public let result: ProcessResult?
  /// The end of the program's standard error: some 1,000 bytes, in whole lines.
  ///
  /// It is there even if the output was streamed; with `mergesStandardError` it is the end of both
  /// outputs. Empty if the output was inherited, discarded or written to a file.
  public var errorText: String { result?.errorOutputEnd.text ?? "" }
  /// One sentence that says what happened, followed by `errorText`.
  ///
  /// It names the program, but not its arguments or environment, which may hold secrets.
  public let description: String

  package init(_ code: Code, program: String, result: ProcessResult? = nil, _ description: String) {
    self.code = code
    self.program = program
    self.result = result
    let said = result?.errorOutputEnd.text ?? ""
    self.description = said.isEmpty ? description : "\(description): \(said)"
  }
}

extension ProcessError {
  /// The error for an input stream that another program already has.
  package static func inputIsTaken(from configuration: ProcessConfiguration) -> ProcessError {
    ProcessError(
      .notStarted, program: configuration.program,
      "'\(configuration.program)' could not be started: its input stream belongs to another "
        + "program, make one for each")
  }
}

extension ProcessError.Code {
  /// Matches errors with this code in a `catch` or a `case`.
  ///
  /// ```swift
  /// } catch ProcessError.Code.programNotFound {
  ///   print("install it first")
  /// }
  /// ```
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? ProcessError)?.code == code
  }
}

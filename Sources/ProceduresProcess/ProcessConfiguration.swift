/// The settings of a program to run: program, directory, streams, and how it is ended.
public struct ProcessConfiguration: Sendable {
  /// A path if it contains a slash, otherwise a name that is looked up in `PATH`.
  ///
  /// `PATH` is read from `environment`. A relative path starts at `directory`.
  public var program: String
  /// The arguments, without the program's name.
  public var arguments: [String] = []
  /// The whole environment of the program; by default, the environment of this process.
  public var environment: ProcessEnvironment = .inherited
  /// The working directory; by default, the working directory of this process.
  public var directory: String?

  /// The standard input of the program; by default, nothing.
  public var standardInput: ProcessInput = .none
  /// The destination of its output; by default memory.
  public var standardOutput: ProcessOutput = .captured
  /// The destination of its error output, unless `mergesStandardError`; by default memory.
  public var standardError: ProcessOutput = .captured
  /// The number of bytes that are kept of each captured output, from its end; 16 MB by default.
  ///
  /// `ProcessResult.droppedByteCount` counts the others.
  public var mostCapturedBytes = 16 << 20
  /// Sends standard error where standard output goes, in the order written (`2>&1` in a shell).
  public var mergesStandardError = false

  /// The program's share of the terminal; by default none, even if its standard streams are a
  /// terminal.
  public var terminal: ProcessTerminal = .none

  /// The exit statuses that count as success.
  public var successStatuses: Set<Int32> = [0]

  /// The time of a cancelled program between SIGTERM and SIGKILL.
  public var terminationGracePeriod: Duration = .seconds(3)
  /// The longest wait for output after the program's end, when a descendant holds the pipe open.
  ///
  /// All output of the program itself is read in any case.
  public var outputGracePeriod: Duration = .milliseconds(500)
  /// Ends the programs that it left running in its process group, once it has ended by itself.
  ///
  /// They are ended as by a cancel: SIGTERM, and SIGKILL after the grace period. If false, such
  /// programs are left alone, as in a shell. After a cancel the group is always cleared. A sleeping
  /// program that keeps an output pipe open is ended at once, not after `outputGracePeriod`.
  public var endsDescendants = false

  /// Ends the program's process group when this process ends, even if it crashes or is killed.
  ///
  /// The group is ended as by a cancel: SIGTERM, and SIGKILL after `terminationGracePeriod`, in
  /// whole seconds. All such programs share one shell, which starts with the first of them and
  /// waits for the end of this process. If the shell cannot be started, neither is the program. If
  /// this process is killed in the instant of a start, the program may be left running.
  public var endsWithThisProcess = false

  #if os(macOS) || os(Linux)
    /// Whether output is still handed over as it arrives after a cancel, since a user watches it.
    package var streamsAfterCancel = false
    /// The pipe from the program before it in a pipeline, instead of `standardInput`.
    package var inputPipe: ProcessPipe?
    /// The pipe to the program after it in a pipeline, instead of `standardOutput`.
    package var outputPipe: ProcessPipe?

    var isInPipeline: Bool { inputPipe != nil || outputPipe != nil }
  #endif

  /// A program with arguments; everything else is set afterwards.
  public init(program: String, arguments: [String] = []) {
    self.program = program
    self.arguments = arguments
  }
}

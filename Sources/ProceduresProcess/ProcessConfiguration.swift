/// Everything about a program to run: what, where, with which streams, and how it is ended.
public struct ProcessConfiguration: Sendable {
  /// A path when it contains a slash, else a name that is looked up in `PATH`.
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
  /// How many bytes of captured output are kept, of each of the two: the last ones. By default 16 MB.
  ///
  /// `ProcessResult.droppedByteCount` says how many were not.
  public var mostCapturedBytes = 16 << 20
  /// Sends standard error where standard output goes, in the order written (`2>&1` in a shell).
  public var mergesStandardError = false

  /// The program's share of the terminal; by default none, whatever its standard streams are.
  public var terminal: ProcessTerminal = .none

  /// The exit statuses that count as success.
  public var successStatuses: Set<Int32> = [0]

  /// How long a cancelled program has between SIGTERM and SIGKILL.
  public var terminationGracePeriod: Duration = .seconds(3)
  /// How long output is waited for after the program ended, when a descendant holds the pipe open.
  ///
  /// All that the program itself wrote is read in any case.
  public var outputGracePeriod: Duration = .milliseconds(500)
  /// Ends whatever the program left running in its process group, once it ended by itself.
  ///
  /// It is done as in a cancel: SIGTERM, and SIGKILL after the grace period. By default such
  /// programs are left alone, as in a shell. After a cancel the group is always cleared. A sleeping program that keeps
  /// an output pipe open is ended at once, not after `outputGracePeriod`.
  public var endsDescendants = false

  /// Ends the program's process group when this process ends, even if it crashes or is killed.
  ///
  /// It is done as in a cancel: SIGTERM, and SIGKILL after `terminationGracePeriod`, in whole seconds. All such programs
  /// share one small process, a shell, which waits for the end of this one from the first of them on. Without it the
  /// program is not started. A process that is killed in the instant in which it starts a program may leave it.
  public var endsWithThisProcess = false

  #if os(macOS) || os(Linux)
    /// Whether output is handed over after a cancel as it comes, since somebody looks at it.
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

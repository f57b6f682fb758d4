#if os(macOS) || os(Linux)
  internal import ProcedurePrimitives
  public import Procedures
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Runs a program, and finishes when it has ended.
  ///
  /// ```swift
  /// let compress = ProcessProcedure("gzip", arguments: ["-k", "data.csv"]) {
  ///   $0.directory = "/tmp/work"
  /// }
  /// compress.addDidFinishBlockObserver { compress, errors in
  ///   print(compress.result?.exit ?? "did not run", errors)
  /// }
  /// queue.add(compress)
  /// ```
  ///
  /// **Success.** It finishes without errors when the exit status is one of `successStatuses`,
  /// otherwise with a `ProcessError` that names the program, says how it ended, and contains the
  /// end of its standard error. A program that does not exist, cannot be executed, or should run in
  /// a directory that does not exist, is a `ProcessError` as well. `result` has the exit and the
  /// captured output if the program ran.
  ///
  /// **Values.** Its output is its result. Its input, if you set or inject one, is the program's
  /// standard input; you may change the rest of `configuration` until it executes. `a | b` makes a
  /// `ProcessPipeline`.
  ///
  /// **Cancelling** sends SIGTERM to the program's process group, which is its own, and SIGKILL
  /// after `terminationGracePeriod`. The procedure finishes when no process of the group runs any
  /// more; its outcome is `.cancelled`, and the exit is no further error. `kill()` shortens this.
  ///
  /// **Descendants** that still run when the program has ended by itself are left alone, unless
  /// `endsDescendants` is set. They cannot keep the procedure from finishing: when one holds an
  /// output pipe open, the procedure reads on for another `outputGracePeriod`, and then stops.
  ///
  /// **Threads.** No thread and no run loop waits for the program: one thread waits for the pipes
  /// and ends of all programs, and ends them. The handler of `.streamed` output is called on one of
  /// a few others; if it blocks, the program can still be cancelled and killed. The grace periods
  /// are real time, even with another clock of the queue.
  ///
  /// **Limits.** When the system allows no more processes or open files, the procedure waits for
  /// other running programs of this process. If there are none, it fails after two seconds.
  ///
  /// **The terminal** is not available to the program unless you set `terminal`: it runs in a
  /// session of its own.
  ///
  /// **Platforms.** It is not available on iOS, tvOS, watchOS and visionOS, where a program cannot
  /// start another one.
  nonisolated open class ProcessProcedure: Procedure, EndsByItself, InputProcedure, OutputProcedure,
    @unchecked Sendable
  {
    /// The standard input of the program, instead of the one in `configuration`.
    public typealias Input = ProcessInput
    /// The exit and the output of the program.
    public typealias Output = ProcessResult

    private let run: Locked<Run>

    private struct Run {
      var configuration: ProcessConfiguration
      var child: (any RunningProgram)?
      var identifier: Int32?
      var hasEnded = false
      var result: ProcessResult?
    }

    /// Makes a procedure that runs the program of a configuration.
    public init(_ configuration: ProcessConfiguration) {
      run = Locked(Run(configuration: configuration))
      super.init()
      nameAfterProgram()
    }

    /// Makes a procedure that runs a program: a path, or a name that is looked up in `PATH`.
    ///
    /// `configure` is called once, before this returns, to set everything else.
    public init(
      _ program: String, arguments: [String] = [],
      configure: (inout ProcessConfiguration) -> Void = { _ in }
    ) {
      var configuration = ProcessConfiguration(program: program, arguments: arguments)
      configure(&configuration)
      run = Locked(Run(configuration: configuration))
      super.init()
      nameAfterProgram()
    }

    deinit { for stream in inputStreams { stream.abandon() } }

    /// The streams that it was given, of which its program claims one at most.
    private var inputStreams: [ProcessInputStream] {
      [input.stream, Optional(configuration.standardInput).stream].compactMap(\.self)
    }

    /// The name has no arguments: names go into logs, and arguments may hold secrets.
    private func nameAfterProgram() { name = configuration.program }

    /// The settings of the program. May be read from any thread; changes have an effect until the
    /// procedure executes.
    ///
    /// ```swift
    /// pack.inject(dependency: list) { pack, list, _ in
    ///   pack.configuration.directory = list.directory
    /// }
    /// ```
    public final var configuration: ProcessConfiguration {
      get { run.withLock { $0.configuration } }
      set {
        change { configuration in
          let (input, output) = (configuration.inputPipe, configuration.outputPipe)
          configuration = newValue
          (configuration.inputPipe, configuration.outputPipe) = (input, output)
        }
      }
    }

    final func change(_ change: @Sendable (inout ProcessConfiguration) -> Void) {
      var changed = configuration
      change(&changed)
      // A replaced value, a handler for example, is released after the lock.
      _ = run.withLock { [changed] run in
        let before = run.configuration
        run.configuration = changed
        return before
      }
    }

    /// Adds arguments that `arguments` makes of the output of `source`, and a dependency on
    /// `source`.
    ///
    /// ```swift
    /// let unpack = ProcessProcedure("tar", arguments: ["-x", "-f"])
    /// unpack.injectArguments(from: download) { [$0.payload.path] }
    /// ```
    ///
    /// `arguments` is called once, in this procedure's turn before it starts. If `source` fails or
    /// is cancelled, this procedure is cancelled, as with `injectResult(from:)`; an error that
    /// `arguments` throws cancels it, too.
    @discardableResult
    public final func injectArguments<Source: OutputProcedure>(
      from source: Source,
      _ arguments: @escaping @Sendable (Source.Output) throws -> [String]
    ) -> Self {
      inject(dependency: source) { process, source, _ in
        process.configuration.arguments += try arguments(source.outputToHandOver())
      }
    }

    /// The exit and the output of the program; nil until it has ended, and if it could not be run.
    ///
    /// May be read from any thread.
    public final var result: ProcessResult? { run.withLock { $0.result } }

    /// The identifier of the program's process, and of its process group, while it runs.
    ///
    /// May be read from any thread. The program may have ended by the time you use it.
    public final var processIdentifier: Int32? {
      run.withLock { $0.hasEnded ? nil : $0.identifier }
    }

    /// Like `processIdentifier`, but kept after the program's end: members of its group may still
    /// run.
    package final var processGroup: Int32? { run.withLock { $0.identifier } }

    /// Sends SIGKILL to the program's process group now.
    ///
    /// May be called from any thread. If it was not cancelled before, the procedure finishes with
    /// the error of a program ended by a signal. Has no effect if the program does not run.
    public final func kill() { run.withLock { $0.child }?.kill() }

    /// Sends a signal to the program's process group; for example SIGSTOP, SIGCONT or SIGUSR1.
    ///
    /// May be called from any thread, and returns when the signal is sent, or after one second. Has
    /// no effect if the program does not run.
    public final func send(signal: Int32) { run.withLock { $0.child }?.send(signal) }

    /// Starts the program on the calling worker, which blocks for the time of a `posix_spawn`.
    open override func execute() {
      var configuration = configuration
      if let input { configuration.standardInput = input }
      let started: @Sendable (Int32) -> Void = { identifier in
        self.run.withLock { $0.identifier = identifier }
      }
      let completion: @Sendable (Result<ProcessResult, ProcessError>) -> Void = { ending in
        self.programEnded(ending)
      }
      let standIn: (any ProgramStandIn)? = standIn()
      let child: any RunningProgram =
        standIn?.makeRun(
          of: configuration, by: self, started: started, completion: completion)
        ?? ChildProcess(configuration, started: started, completion: completion)
      run.withLock { $0.child = child }
      child.start()
    }

    open override func procedureDidCancel(withErrors errors: [any Error]) {
      run.withLock { $0.child }?.terminate()
    }

    /// An override calls `super.procedureDidFinish`.
    open override func procedureDidFinish(withErrors errors: [any Error]) {
      // If the program did not run, ends the waits for its input to be taken.
      for stream in inputStreams { stream.close(ifUnclaimed: true) }
    }

    private func programEnded(_ ending: Result<ProcessResult, ProcessError>) {
      // The former state is replaced under the lock, but released after it.
      _ = run.withLock { run in
        let before = run
        run.child = nil
        run.hasEnded = true
        run.result = try? ending.get()
        return before
      }
      switch ending {
      case _ where isCancelled: finish()
      case .failure(let error): finishUnlessCancelled(with: .failure(error))
      case .success(let result): programDidEnd(with: result)
      }
    }

    /// Finishes the procedure after the program's end: by default successfully if the exit is one
    /// of the `successStatuses`.
    ///
    /// Override it to decide by more than the exit. Call `super`, or `finish(withResult:)`, now or
    /// later, on any thread: until then the procedure executes.
    ///
    /// ```swift
    /// override func programDidEnd(with result: ProcessResult) {
    ///   guard isComplete(archive) else { return finish(withError: IncompleteArchive()) }
    ///   super.programDidEnd(with: result)
    /// }
    /// ```
    ///
    /// Called once, when the program has ended and all its output was handled, unless it could not
    /// be run or the procedure was cancelled before. The ends of all programs share one thread, so
    /// do not block in it.
    open func programDidEnd(with result: ProcessResult) {
      finishUnlessCancelled(with: self.result(of: result))
    }

    /// A cancel comes before, and the exit is no further error, or it is too late.
    private func finishUnlessCancelled(with result: Result<ProcessResult, any Error>) {
      if claimFinish() { finish(claimedWith: result) } else { finish() }
    }

    private func result(of result: ProcessResult) -> Result<ProcessResult, any Error> {
      let configuration = configuration
      switch result.exit {
      case .status(let status) where configuration.successStatuses.contains(status):
        return .success(result)
      // The next program in the pipeline has stopped reading.
      case .signal(SIGPIPE) where configuration.outputPipe != nil:
        return .success(result)
      default:
        return .failure(
          ProcessError(
            .unsuccessful, program: configuration.program, result: result,
            "'\(configuration.program)' \(result.exit)"))
      }
    }
  }
#endif

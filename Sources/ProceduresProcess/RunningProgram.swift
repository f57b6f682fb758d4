#if os(macOS) || os(Linux)
  package import Procedures

  /// One run of a program, which a `ProcessProcedure` starts and may end: of a process, or of a stand-in for one.
  package protocol RunningProgram: Sendable {
    /// Called once, when the procedure executes.
    func start()
    /// Ends it, and kills it after the grace period; nothing once it ended.
    func terminate()
    /// Kills it now; nothing once it ended.
    func kill()
    /// A signal to it; nothing once it ended.
    func send(_ signal: Int32)
  }

  extension ChildProcess: RunningProgram {}

  /// Runs the programs of a queue instead of the system. Its events come where the queue's procedures run, or its
  /// clock's timers.
  package protocol ProgramStandIn: StandIn {
    /// - Parameters:
    ///   - procedure: executes.
    ///   - started: is called once with an identifier, if it runs.
    ///   - completion: is called once after `start()`, last, also after `terminate()` and `kill()`.
    func makeRun(
      of configuration: ProcessConfiguration, by procedure: Procedure,
      started: @escaping @Sendable (Int32) -> Void,
      completion: @escaping @Sendable (Result<ProcessResult, ProcessError>) -> Void
    ) -> any RunningProgram
  }
#endif

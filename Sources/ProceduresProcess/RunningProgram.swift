#if os(macOS) || os(Linux)
  package import Procedures

  /// One run of a program that a `ProcessProcedure` starts and may end: a process, or a stand-in
  /// for one.
  package protocol RunningProgram: Sendable {
    /// Called once, when the procedure executes.
    func start()
    /// Ends the program, and kills it after the grace period. No effect once it has ended.
    func terminate()
    /// Kills the program now. No effect once it has ended.
    func kill()
    /// Sends a signal to the program. No effect once it has ended.
    func send(_ signal: Int32)
  }

  extension ChildProcess: RunningProgram {}

  /// Runs the programs of a queue instead of the system. Its events come on threads of the queue or
  /// of its clock's timers.
  package protocol ProgramStandIn: StandIn {
    /// - Parameters:
    ///   - procedure: the executing procedure.
    ///   - started: called once with an identifier, if the program runs.
    ///   - completion: called once after `start()`, last, even after `terminate()` or `kill()`.
    func makeRun(
      of configuration: ProcessConfiguration, by procedure: Procedure,
      started: @escaping @Sendable (Int32) -> Void,
      completion: @escaping @Sendable (Result<ProcessResult, ProcessError>) -> Void
    ) -> any RunningProgram
  }
#endif

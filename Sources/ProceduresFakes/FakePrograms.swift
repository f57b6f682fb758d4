#if os(macOS) || os(Linux)
  public import Foundation
  internal import ProcedurePrimitives
  public import ProceduresProcess

  /// Runs the programs of process procedures in a test, without processes, in the time of their
  /// queue.
  ///
  /// ```swift
  /// let programs = FakePrograms(["gzip": FakeProgram.hanging.ignoringTermination()])
  /// try ProcedureSimulation(seed: 1).run { simulation in
  ///   let queue = simulation.makeQueue()
  ///   queue.replacePrograms(with: programs)
  ///   let compress = ProcessProcedure("gzip", arguments: ["data.csv"])
  ///   queue.add(compress)
  ///   simulation.perform(after: .seconds(10)) { compress.cancel() }
  /// }
  /// print(programs.signals.map(\.number))  // [15, 9]
  /// ```
  ///
  /// Code under test needs no parameter for it: give it a queue with these programs.
  ///
  /// ## Like a process
  /// Exits, errors, `result`, captured, streamed and merged output, files of standard streams,
  /// grace periods, and cancels. `terminationGracePeriod` is by the queue's clock here, so virtual
  /// in a test.
  ///
  /// ## Unlike a process
  /// A program gets all of its input before it begins: in a pipeline it begins when the previous
  /// one has finished, with a `ProcessInputStream` when that has ended. `.inherited` output is
  /// discarded, `.inherited` input is empty. The program is alone in its group: SIGTERM, SIGINT,
  /// SIGHUP and SIGQUIT end it, or start its reaction to SIGTERM; SIGKILL ends it; other signals
  /// are only recorded. No process has its process identifier. Handlers of output are called on the
  /// thread of its steps.
  ///
  /// ## Threads
  /// Steps run on threads of the queue or of its clock's timers: in a simulation on its thread,
  /// with a `TestClock` inside `advance(by:)` if they had to wait. One instance may serve many
  /// queues.
  public final class FakePrograms: Sendable {
    /// A program that was started.
    public struct Run: Sendable {
      /// The program and its settings.
      public let configuration: ProcessConfiguration
      /// Its standard input, to the end.
      public let input: Data
      /// The number of the run of a program of that name: 1 for the first.
      public let number: Int
      /// When it began, by the clock of the queue.
      public let instant: ContinuousClock.Instant

      /// The program, as it was given.
      public var program: String { configuration.program }
      /// The arguments, without the program's name.
      public var arguments: [String] { configuration.arguments }
      /// The input as text.
      public var inputText: String { String(decoding: input, as: UTF8.self) }
    }

    /// A signal that a running program got.
    public struct Signal: Sendable, Equatable {
      /// The program, as it was given.
      public let program: String
      /// For example 15 for SIGTERM.
      public let number: Int32
      /// When it came, by the clock of the queue.
      public let instant: ContinuousClock.Instant
    }

    private struct State: Sendable {
      var runs: [Run] = []
      var signals: [Signal] = []
      var counts: [String: Int] = [:]
      var lastIdentifier = Int32.max
    }

    private let program: @Sendable (Run) -> FakeProgram
    private let state = Locked(State())

    /// Makes programs that behave as `program` returns.
    ///
    /// ```swift
    /// let programs = FakePrograms { run in
    ///   switch (run.program, run.number) {
    ///   case ("git", 1): FakeProgram().errorOutput("the lock is held\n").exit(128)
    ///   case ("git", _): FakeProgram().output("done\n")
    ///   default: .missing
    ///   }
    /// }
    /// ```
    ///
    /// - Parameter program: called once for each program, when it begins, perhaps on several
    ///   threads at once.
    public init(_ program: @escaping @Sendable (Run) -> FakeProgram) {
      self.program = program
    }

    /// Makes programs of these names. No other program is found.
    public convenience init(_ programs: [String: FakeProgram]) {
      self.init { run in programs[run.program] ?? .missing }
    }

    /// The requested programs, including missing ones, in the order in which they began.
    ///
    /// May be read from any thread.
    public var runs: [Run] { state.withLock { $0.runs } }

    /// The signals that running programs got, in this order.
    public var signals: [Signal] { state.withLock { $0.signals } }

    func begin(
      _ configuration: ProcessConfiguration, _ input: Data, at instant: ContinuousClock.Instant
    ) -> FakeProgram {
      let run = state.withLock { state in
        let number = state.counts[configuration.program, default: 0] + 1
        state.counts[configuration.program] = number
        let run = Run(
          configuration: configuration, input: input, number: number, instant: instant)
        state.runs.append(run)
        return run
      }
      return program(run)
    }

    func note(_ signal: Signal) { state.withLock { $0.signals.append(signal) } }

    /// An identifier that no process has: systems count from below, and not so high.
    func makeIdentifier() -> Int32 {
      state.withLock { state in
        state.lastIdentifier -= 1
        return state.lastIdentifier
      }
    }
  }

  extension FakePrograms: ProgramStandIn {
    package func makeRun(
      of configuration: ProcessConfiguration, by procedure: Procedure,
      started: @escaping @Sendable (Int32) -> Void,
      completion: @escaping @Sendable (Result<ProcessResult, ProcessError>) -> Void
    ) -> any RunningProgram {
      FakeRun(configuration, of: self, by: procedure, started: started, completion: completion)
    }
  }

  /// Programs of a test instead of processes.
  extension ProcedureQueue {
    /// Replaces the programs of process procedures of this queue, and of groups on it, from now on.
    ///
    /// They also replace earlier `FakePrograms`. The queue keeps them.
    public func replacePrograms(with programs: FakePrograms) { use(programs) }
  }
#endif

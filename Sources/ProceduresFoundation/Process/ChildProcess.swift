#if os(macOS) || os(Linux)
  internal import Dispatch
  internal import Foundation
  internal import ProcedurePrimitives
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// One run of a program, from its start until nothing of it is left that we answer for.
  ///
  /// ```
  /// start → running → (program ended) → waiting for output → (reaped) → clearing the group → done
  ///    ╰─ not started ──────────────────────────────────────────────────────────────────────↗
  /// ```
  ///
  /// 1. All state is confined to `queue`; the methods called from elsewhere only hop onto it.
  /// 2. The group is signalled only while the program is not reaped, or while members of the group
  ///    are still there: in both cases the system cannot give the identifier to another process.
  ///    (Between the group's last member and the next look at it, 20 ms, it could in theory.)
  /// 3. `completion` is called exactly once, on `queue`, if `start()` was called; `started` before
  ///    it, if the program could be started.
  ///
  /// Time here is real time, whatever clock the procedures around it run on: so is the program's.
  final class ChildProcess: @unchecked Sendable {
    private let configuration: ProcessConfiguration
    private let started: @Sendable (pid_t) -> Void
    private let completion: @Sendable (Result<ProcessResult, ProcessError>) -> Void
    // One queue per running program, not per procedure: its handlers may block on user code.
    private let queue = DispatchQueue(label: "ProcessProcedure")
    private var identifier: pid_t = 0
    private var input: InputWriter?
    private var output: OutputReader?
    private var errorOutput: OutputReader?
    private var programEnded = false
    private var outputTimeIsUp = false
    private var isReaped = false
    private var exit: ProcessExit?
    private var isTerminating = false
    private var isLookingAtGroup = false
    private var groupTimeIsUp = false
    private var isKillRequested = false
    private var isDone = false

    init(
      _ configuration: ProcessConfiguration,
      started: @escaping @Sendable (pid_t) -> Void = { _ in },
      completion: @escaping @Sendable (Result<ProcessResult, ProcessError>) -> Void
    ) {
      self.configuration = configuration
      self.started = started
      self.completion = completion
    }

    /// Starts the program; called once.
    func start() { queue.async { self.spawn() } }

    /// SIGTERM to the group now, SIGKILL after the grace period; nothing once it ended.
    func terminate() { queue.async { self.terminateGroup() } }

    /// SIGKILL to the group now, or as soon as it is there; nothing once it ended.
    func kill() { queue.async { self.killGroup() } }

    // MARK: Starting

    private struct Pipes {
      var input: FileDescriptorPair?
      var output: FileDescriptorPair?
      var error: FileDescriptorPair?
    }

    private func spawn() {
      do throws(ProcessError) {
        var pipes = Pipes()
        defer {
          if let pipe = pipes.input { _ = close(pipe.reading) }
          if let pipe = pipes.output { _ = close(pipe.writing) }
          if let pipe = pipes.error { _ = close(pipe.writing) }
        }
        do throws(ProcessError) {
          try open(&pipes)
          identifier = try spawner(pipes).spawn()
        } catch {
          if let pipe = pipes.input { _ = close(pipe.writing) }
          if let pipe = pipes.output { _ = close(pipe.reading) }
          if let pipe = pipes.error { _ = close(pipe.reading) }
          throw error
        }
        started(identifier)
        connect(pipes)
        ExitWatcher.watch(identifier, on: queue) { self.noteEnd() }
        if isKillRequested { killGroup() }
      } catch {
        complete(.failure(error))
      }
    }

    private func open(_ pipes: inout Pipes) throws(ProcessError) {
      if case .data = configuration.standardInput { pipes.input = try makePipe() }
      if isRead(configuration.standardOutput) { pipes.output = try makePipe() }
      if !configuration.mergesStandardError, isRead(configuration.standardError) {
        pipes.error = try makePipe()
      }
    }

    private func makePipe() throws(ProcessError) -> FileDescriptorPair {
      if let pipe = FileDescriptorPair() { return pipe }
      throw ProcessError(
        .notStarted, program: configuration.program,
        "'\(configuration.program)' could not be started: no pipe, "
          + ProgramLookup.message(for: errno))
    }

    private func isRead(_ output: ProcessOutput) -> Bool {
      switch output {
      case .captured, .streamed: true
      case .inherited, .discarded: false
      }
    }

    private func spawner(_ pipes: Pipes) -> Spawner {
      let input: StandardStream =
        switch configuration.standardInput {
        case .none: .null
        case .inherited: .inherited
        case .data: pipes.input.map { .descriptor($0.reading) } ?? .null
        }
      return Spawner(
        configuration: configuration, input: input,
        output: stream(configuration.standardOutput, pipes.output),
        error: configuration.mergesStandardError
          ? nil : stream(configuration.standardError, pipes.error))
    }

    private func stream(_ output: ProcessOutput, _ pipe: FileDescriptorPair?) -> StandardStream {
      if let pipe { return .descriptor(pipe.writing) }
      if case .inherited = output { return .inherited }
      return .null
    }

    private func connect(_ pipes: Pipes) {
      if case .data(let data) = configuration.standardInput, let pipe = pipes.input {
        input = InputWriter(pipe.writing, data: data, on: queue)
        input?.start()
      }
      output = pipes.output.map { reader($0, configuration.standardOutput) }
      errorOutput = pipes.error.map { reader($0, configuration.standardError) }
      for reader in [output, errorOutput] { reader?.start() }
    }

    private func reader(_ pipe: FileDescriptorPair, _ output: ProcessOutput) -> OutputReader {
      var handler: (@Sendable (Data) -> Void)?
      if case .streamed(let closure) = output { handler = closure }
      return OutputReader(pipe.reading, on: queue, handler: handler) { self.advance() }
    }

    // MARK: Ending

    private func noteEnd() {
      programEnded = true
      after(configuration.outputGracePeriod) { child in
        child.outputTimeIsUp = true
        child.advance()
      }
      advance()
    }

    /// Goes as far as it can after something happened: output ended, time is up, a signal was sent.
    private func advance() {
      guard programEnded, !isDone else { return }
      let outputEnded = (output?.isAtEnd ?? true) && (errorOutput?.isAtEnd ?? true)
      guard outputEnded || outputTimeIsUp else { return }
      if !isReaped {
        if configuration.endsDescendants { sendTermination() }
        reap()
      }
      guard !isTerminating || groupTimeIsUp || group.isGone else { return lookAtGroupLater() }
      finish()
    }

    private func lookAtGroupLater() {
      guard !isLookingAtGroup else { return }
      isLookingAtGroup = true
      after(.milliseconds(20)) { child in
        child.isLookingAtGroup = false
        child.advance()
      }
    }

    private func reap() {
      isReaped = true
      var status: Int32 = 0
      var reaped: pid_t
      repeat { reaped = unsafe waitpid(identifier, &status, 0) } while reaped < 0 && errno == EINTR
      guard reaped == identifier else { return }
      // The layout that WIFEXITED, WEXITSTATUS and WTERMSIG read; Swift does not import macros.
      let signal = status & 0x7f
      exit = signal == 0 ? .status((status >> 8) & 0xff) : .signal(signal)
    }

    private func finish() {
      input?.stop()
      let captured = output?.stop() ?? Data()
      let capturedError = errorOutput?.stop() ?? Data()
      let end = (configuration.mergesStandardError ? output : errorOutput)?.outputEnd
      (input, output, errorOutput) = (nil, nil, nil)
      if let exit {
        complete(
          .success(
            ProcessResult(
              exit: exit, output: captured, errorOutput: capturedError,
              errorOutputEnd: end ?? OutputEnd())))
      } else {
        complete(
          .failure(
            ProcessError(
              .unsuccessful, program: configuration.program,
              "'\(configuration.program)' ended in an unknown way: "
                + "this process ignores SIGCHLD, or other code of it waited for the program")))
      }
    }

    private func complete(_ result: Result<ProcessResult, ProcessError>) {
      isDone = true
      completion(result)
    }

    // MARK: Signals

    private func terminateGroup() {
      sendTermination()
      advance()
    }

    private func sendTermination() {
      guard identifier > 0, !isDone, !isTerminating else { return }
      isTerminating = true
      signalGroup(SIGTERM)
      // A stopped program would not see SIGTERM before it continues.
      signalGroup(SIGCONT)
      after(configuration.terminationGracePeriod) { $0.killGroup() }
    }

    private func killGroup() {
      isKillRequested = true
      guard identifier > 0, !isDone else { return }
      isTerminating = true
      signalGroup(SIGKILL)
      // Killed processes are not waited for without end: one may hang in a system call.
      after(.milliseconds(500)) { child in
        child.groupTimeIsUp = true
        child.advance()
      }
      advance()
    }

    private func signalGroup(_ signal: Int32) {
      guard !isReaped || !group.isGone else { return }
      group.signal(signal)
    }

    private var group: ProcessGroup { ProcessGroup(identifier: identifier) }

    private func after(_ duration: Duration, _ body: @escaping @Sendable (ChildProcess) -> Void) {
      let nanoseconds = Int(clamping: duration.nanosecondsRoundedUp)
      queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) {
        if !self.isDone { body(self) }
      }
    }
  }
#endif

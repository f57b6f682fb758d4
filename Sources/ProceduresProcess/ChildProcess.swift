#if os(macOS) || os(Linux)
  internal import Dispatch
  #if canImport(FoundationEssentials)
    internal import FoundationEssentials
  #else
    internal import Foundation
  #endif
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// One run of a program, from its start until its group is cleared.
  ///
  /// ```
  /// starting ⟲ → running → (program ended) → waiting for output → reaped → clearing group → done
  ///    ╰─ not started ──────────────────────────────────────────────────────────────────────↗
  /// ```
  ///
  /// 1. The caller of `start()` makes the first attempt to start. Everything else, and all state,
  ///    is confined to the supervisor's thread; methods called from other threads only post to it.
  /// 2. The group is signalled only while the program is not reaped, or while the group has
  ///    members: in both cases the system cannot give the identifier to another process. (In theory
  ///    it could between the end of the last member and the next check, within 20 ms.)
  /// 3. `completion` is called exactly once after `start()`, on a handler thread, when the last
  ///    piece of output was handled. `started` is called before it, if the program was started.
  ///
  /// Time here is real time, like the program's, even if the procedures use another clock.
  final class ChildProcess: @unchecked Sendable {
    let configuration: ProcessConfiguration
    let supervisor: ProcessSupervisor
    private let started: @Sendable (pid_t) -> Void
    private let completion: @Sendable (Result<ProcessResult, ProcessError>) -> Void
    private(set) var identifier: pid_t = 0
    private var begin: ContinuousClock.Instant = .now
    private var end: ContinuousClock.Instant?
    /// The handlers of output and error output, if closures receive them.
    private let handlers: (output: OutputHandler?, error: OutputHandler?)
    /// The stream of the standard input, if there is one.
    private var inputStream: ProcessInputStream?
    private var input: InputWriter?
    private var output: OutputReader?
    private var errorOutput: OutputReader?
    private var outputTimeIsUp = false
    private(set) var isReaped = false
    private var exit: ProcessExit?
    /// The commands that the program left in its group when it ended by itself, and that are ended
    /// now; nil if there are none.
    private var endedDescendants: [String]?
    private var terminal: ForegroundTerminal?
    // State of ChildProcess+Ending.swift.
    var isTerminating = false
    var groupTimeIsUp = false
    var isKillRequested = false
    var isLookingLater = false
    private(set) var isWaitingToStart = false
    private(set) var isDone = false

    init(
      _ configuration: ProcessConfiguration, supervisor: ProcessSupervisor = .shared,
      started: @escaping @Sendable (pid_t) -> Void = { _ in },
      completion: @escaping @Sendable (Result<ProcessResult, ProcessError>) -> Void
    ) {
      self.configuration = configuration
      self.supervisor = supervisor
      self.started = started
      self.completion = completion
      handlers = (
        OutputHandler(for: configuration.standardOutput),
        OutputHandler(for: configuration.standardError)
      )
    }

    /// Starts the program; called once. Returns when it runs, or when the first attempt has failed.
    func start() {
      guard supervisor.prepare(), HandlerThreads.ends.prepare(), HandlerThreads.output.prepare()
      else {
        return completion(.failure(Spawner.refusal(of: configuration.program, code: EAGAIN)))
      }
      guard claimInput() else { return completion(.failure(.inputIsTaken(from: configuration))) }
      let attempt = ProcessStart(configuration).attempt()
      supervisor.post { self.take(attempt, PatienceWithSystem()) }
    }

    /// Cancels: sends SIGTERM to the group now, and SIGKILL after the grace period. No effect once
    /// it has ended.
    func terminate() {
      // Cut short on this thread: a closure that is behind must stop even if the program has ended.
      if !configuration.streamsAfterCancel {
        for handler in [handlers.output, handlers.error] { handler?.cutShort() }
      }
      supervisor.post { self.terminateGroup() }
    }

    /// Sends SIGKILL to the group now, or as soon as it exists. No effect once it has ended.
    func kill() { supervisor.post { self.killGroup() } }

    /// Sends a signal to the group; no effect once it has ended. Returns when it is sent, or after
    /// one second.
    ///
    /// It waits for the supervisor's thread, which never runs user code.
    func send(_ signal: Int32) {
      guard supervisor.prepare() else { return }
      let isSent = DispatchSemaphore(value: 0)
      supervisor.post {
        if self.identifier > 0, !self.isDone { self.signalGroup(signal) }
        isSent.signal()
      }
      _ = isSent.wait(timeout: .now() + 1)
    }

    // MARK: Starting

    private func claimInput() -> Bool {
      guard configuration.inputPipe == nil else { return true }
      switch configuration.standardInput {
      case .data(let data):
        let stream = ProcessInputStream()
        stream.write(data)
        stream.end()
        inputStream = stream
      case .stream(let stream):
        guard stream.claim() else { return false }
        inputStream = stream
      case .none, .file, .inherited: break
      }
      return true
    }

    private func take(_ attempt: ProcessStart.Attempt, _ patience: PatienceWithSystem) {
      switch attempt {
      case .running(let program):
        run(program)
      case .refused(let error):
        complete(.failure(error))
      case .busy(let code):
        var patience = patience
        // Programs in a pipeline may wait for this one, and two pipelines for each other.
        let othersRun = supervisor.programCount > 0 && !configuration.isInPipeline
        let delay = patience.next(after: code, othersRun: othersRun)
        guard let delay, !isTerminating else {
          return complete(.failure(Spawner.refusal(of: configuration.program, code: code)))
        }
        isWaitingToStart = true
        supervisor.after(delay) { [patience] in
          // It may have been cancelled meanwhile.
          guard !self.isDone else { return }
          self.take(ProcessStart(self.configuration).attempt(), patience)
        }
      }
    }

    private func run(_ program: ProcessStart.Program) {
      isWaitingToStart = false
      identifier = program.identifier
      begin = program.start
      terminal = program.terminal
      supervisor.programCount += 1
      started(identifier)
      connect(program.pipes)
      ExitWatcher.watch(identifier, by: supervisor) { self.noteEnd() }
      if terminal != nil { lookWhetherStopped() }
      if isKillRequested {
        killGroup()
      } else if isTerminating {
        isTerminating = false
        terminateGroup()
      }
    }

    private func connect(_ pipes: StandardPipes) {
      if let inputStream, let pipe = pipes.input {
        input = InputWriter(pipe.writing, inputStream, supervisor)
        input?.start()
      }
      output = pipes.output.map { reader($0, handlers.output) }
      errorOutput = pipes.error.map { reader($0, handlers.error) }
      for reader in [output, errorOutput] { reader?.start() }
    }

    private func reader(_ pipe: FileDescriptorPair, _ handler: OutputHandler?) -> OutputReader {
      OutputReader(
        pipe.reading, supervisor, handler: handler, keeping: configuration.mostCapturedBytes
      ) { self.advance() }
    }

    // MARK: Ending

    private func noteEnd() {
      end = .now
      if let terminal {
        terminal.takeBack(restoring: true)
        self.terminal = nil
      }
      advance()
      guard !isDone, !outputIsRead else { return }
      after(configuration.outputGracePeriod) { child in
        child.outputTimeIsUp = true
        child.advance()
      }
      if configuration.endsDescendants { lookWhetherIdle(since: 0) }
    }

    /// Advances as far as possible after an event: output ended, time is up, a signal was sent.
    func advance() {
      guard end != nil, !isDone else { return }
      guard outputIsRead || outputTimeIsUp else { return }
      // 1. Reap the program once its output is read, or its time is up: until then no other process
      //    can get its identifier.
      if !isReaped {
        // Descendants that stay were left on purpose, and the system may reuse their group's
        // identifier later: stop watching it.
        if !configuration.endsDescendants, !isTerminating { leaveParentWatch() }
        isReaped = true
        exit = ChildStatus.reap(identifier)
        supervisor.programCount -= 1
        // 2. End its descendants. Usually the group ends with the program, and one system call
        // shows that. If not, its members keep the identifier (invariant 2).
        if configuration.endsDescendants, !isTerminating, !group.isGone {
          endedDescendants = group.commands
          return terminateGroup()
        }
      }
      // 3. After a termination, poll until the group is gone, or its time is up.
      guard !isTerminating || groupTimeIsUp || group.isGone else {
        return lookLater { $0.advance() }
      }
      finishReading()
    }

    private func leaveParentWatch() {
      if configuration.endsWithThisProcess { ParentWatch.shared.remove(identifier) }
    }

    private var outputIsRead: Bool {
      (output?.isAtEnd ?? true) && (errorOutput?.isAtEnd ?? true)
    }

    /// Shortens the grace period if a descendant that will be ended anyway keeps the output open.
    /// If all members of the group were asleep in two checks, and wrote nothing in between, none of
    /// them is about to write data that it got from the program.
    private func lookWhetherIdle(since pieceCount: Int) {
      after(.milliseconds(20)) { child in
        guard !child.outputIsRead, !child.outputTimeIsUp else { return }
        let count =
          (child.output?.pieceCount ?? 0) + (child.errorOutput?.pieceCount ?? 0) + 1
        let isAsleep = child.group.isAsleep
        if isAsleep, count == pieceCount {
          child.outputTimeIsUp = true
          return child.advance()
        }
        child.lookWhetherIdle(since: isAsleep ? count : 0)
      }
    }

    /// Reads the rest of the pipes, and completes when the last handler has returned.
    private func finishReading() {
      isDone = true
      leaveParentWatch()
      input?.stop()
      let readers = [output, errorOutput].compactMap { $0 }
      guard let reader = readers.first(where: { !$0.isStopped }) else { return finish() }
      reader.stop { self.finishReading() }
    }

    private func finish() {
      let said = (configuration.mergesStandardError ? output : errorOutput)?.outputEnd
      let captured = output?.takeCaptured() ?? (bytes: Data(), dropped: 0)
      let capturedError = errorOutput?.takeCaptured() ?? (bytes: Data(), dropped: 0)
      (input, output, errorOutput) = (nil, nil, nil)
      if let exit {
        complete(
          .success(
            ProcessResult(
              exit: exit, output: captured.bytes, errorOutput: capturedError.bytes,
              droppedByteCount: captured.dropped + capturedError.dropped,
              duration: (end ?? .now) - begin, errorOutputEnd: said ?? OutputEnd(),
              endedDescendants: endedDescendants)))
      } else {
        complete(
          .failure(
            ProcessError(
              .unsuccessful, program: configuration.program,
              "'\(configuration.program)' ended in an unknown way: "
                + "this process ignores SIGCHLD, or other code of it waited for the program")))
      }
    }

    func complete(_ result: Result<ProcessResult, ProcessError>) {
      isDone = true
      inputStream?.close()
      HandlerThreads.ends.run { [completion] in completion(result) }
    }

    // MARK: The terminal

    /// Polls for Ctrl-Z, which stops the program that has the terminal, and must stop this process,
    /// too.
    private func lookWhetherStopped() {
      after(.milliseconds(100)) { child in
        guard let terminal = child.terminal else { return }
        if ChildStatus.wasStopped(child.identifier) {
          terminal.takeBack(restoring: false)
          terminal.stopThisProcess()
          child.waitForForeground()
        } else {
          child.lookWhetherStopped()
        }
      }
    }

    /// Waits until this process, which may have been continued in the background, is in the
    /// foreground again.
    private func waitForForeground() {
      guard let terminal else { return }
      guard terminal.isOurs else { return after(.milliseconds(100)) { $0.waitForForeground() } }
      terminal.give(to: identifier)
      lookWhetherStopped()
    }
  }
#endif

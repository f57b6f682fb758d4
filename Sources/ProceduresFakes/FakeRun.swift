#if os(macOS) || os(Linux)
  internal import Cancellation
  internal import Foundation
  internal import ProcedurePrimitives
  internal import ProceduresProcess
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// One run of a `FakeProgram`. Its steps run one at a time; a signal replaces the remaining ones.
  final class FakeRun: RunningProgram, @unchecked Sendable {
    private struct State: Sendable {
      /// Nil until it has begun.
      var program: FakeProgram?
      var begin: ContinuousClock.Instant
      /// The bytes from a stream.
      var input = Data()
      var isTerminating = false
      var isKilled = false
      var isOver = false
      var killTimer: SlabKey?
    }

    private let configuration: ProcessConfiguration
    private let programs: FakePrograms
    private let started: @Sendable (Int32) -> Void
    private let completion: @Sendable (Result<ProcessResult, ProcessError>) -> Void
    private let playback: Playback<FakeProgram.Event>
    private let handlers: [OutputHandler]
    private let state: Locked<State>
    // Used only by the steps, which do not overlap.
    private var output: FakeOutput
    private var errorOutput: FakeOutput
    private var failure: ProcessError?

    init(
      _ configuration: ProcessConfiguration, of programs: FakePrograms, by procedure: Procedure,
      started: @escaping @Sendable (Int32) -> Void,
      completion: @escaping @Sendable (Result<ProcessResult, ProcessError>) -> Void
    ) {
      self.configuration = configuration
      self.programs = programs
      self.started = started
      self.completion = completion
      playback = Playback(of: procedure)
      output = FakeOutput(
        configuration.outputPipe == nil ? configuration.standardOutput : .discarded, configuration)
      errorOutput = FakeOutput(
        configuration.mergesStandardError ? .discarded : configuration.standardError, configuration)
      handlers = [output.handler, errorOutput.handler].compactMap(\.self)
      state = Locked(State(begin: playback.clock.now))
    }

    func start() {
      playback.prepare { event in self.happen(event) }
      if let pipe = configuration.inputPipe {
        return pipe.whenWritten { self.playback.start(self.begin) }
      }
      guard case .stream(let stream) = configuration.standardInput else {
        return playback.start(begin)
      }
      guard stream.claim() else {
        failure = .inputIsTaken(from: configuration)
        return playback.start { [.init(wait: .zero, event: .end(.status(127)))] }
      }
      collect(stream)
    }

    /// Takes bytes as they are written, until the end of the input.
    private func collect(_ stream: ProcessInputStream) {
      while true {
        switch stream.next(orWake: { self.collect(stream) }) {
        case .nothingYet: return
        case .end: return playback.start(begin)
        case .bytes(let bytes):
          state.withLock { $0.input.append(bytes) }
          stream.take(bytes.count)
        }
      }
    }

    func terminate() {
      for handler in handlers { handler.cutShort() }
      receive(SIGTERM, killingAfter: configuration.terminationGracePeriod)
    }
    func kill() { receive(SIGKILL) }
    func send(_ signal: Int32) { receive(signal) }

    // MARK: The steps

    private func begin() -> [Playback<FakeProgram.Event>.Step] {
      let clock = playback.clock
      do throws(ProcessError) {
        let input = try readInput()
        let program = programs.begin(configuration, input, at: clock.now)
        guard !program.isMissing else {
          throw ProcessError(
            .programNotFound, program: configuration.program,
            "there is no program '\(configuration.program)'")
        }
        try output.open()
        try errorOutput.open()
        state.withLock { state in
          state.program = program
          state.begin = clock.now
        }
        started(programs.makeIdentifier())
        return program.steps
      } catch {
        failure = error
        return [.init(wait: .zero, event: .end(.status(127)))]
      }
    }

    private func readInput() throws(ProcessError) -> Data {
      if let pipe = configuration.inputPipe { return pipe.memory }
      switch configuration.standardInput {
      case .none, .inherited: return Data()
      case .data(let data): return data
      case .stream: return state.withLock { $0.input }
      case .file(let path):
        guard let data = try? Data(contentsOf: configuration.place(ofFile: path)) else {
          throw configuration.notOpened(path)
        }
        return data
      }
    }

    private func happen(_ event: FakeProgram.Event) {
      switch event {
      case .output(let data):
        write(data)
      case .errorOutput(let data):
        if configuration.mergesStandardError { write(data) } else { errorOutput.take(data) }
      case .end(let exit):
        end(exit)
      }
    }

    private func write(_ data: Data) {
      if let pipe = configuration.outputPipe { pipe.append(data) } else { output.take(data) }
    }

    private func end(_ exit: ProcessExit) {
      playback.stop()
      let (begin, timer) = state.withLock { state in
        state.isOver = true
        return (state.begin, state.killTimer.take())
      }
      if let timer { playback.clock.service.cancel(timer) }
      if case .stream(let stream) = configuration.standardInput, failure == nil { stream.close() }
      let (captured, dropped) = output.end()
      let (capturedError, droppedError) = errorOutput.end()
      if let failure { return completion(.failure(failure)) }
      completion(
        .success(
          ProcessResult(
            exit: exit, output: captured, errorOutput: capturedError,
            droppedByteCount: dropped + droppedError,
            duration: begin.duration(to: playback.clock.now),
            errorOutputEnd: (configuration.mergesStandardError ? output : errorOutput).outputEnd)))
    }

    // MARK: Signals

    private func receive(_ signal: Int32, killingAfter grace: Duration? = nil) {
      let steps: [Playback<FakeProgram.Event>.Step]? = state.withLock { state in
        guard !state.isOver, !state.isKilled else { return nil }
        let now = playback.clock.now
        // A program that has not begun gets no signal.
        if state.program != nil {
          programs.note(.init(program: configuration.program, number: signal, instant: now))
        }
        if let grace, state.killTimer == nil {
          let end = now.saturatingAdvanced(by: grace)
          state.killTimer = playback.clock.service.schedule(KillTimer(self), at: end)
        }
        let ending = [Playback<FakeProgram.Event>.Step(wait: .zero, event: .end(.signal(signal)))]
        switch signal {
        case SIGKILL:
          state.isKilled = true
          return ending
        case SIGTERM, SIGINT, SIGHUP, SIGQUIT:
          guard !state.isTerminating else { return nil }
          state.isTerminating = true
          switch state.program?.reaction ?? .ends {
          case .ends: return ending
          case .goesOn: return nil
          case .changes(let program): return program.steps
          }
        default: return nil
        }
      }
      if let steps { playback.replace(with: steps) }
    }

    private final class KillTimer: TimerTarget {
      private let run: FakeRun

      init(_ run: FakeRun) { self.run = run }

      func timerFired() { run.playback.clock.service.deliver { self.run.kill() } }
    }
  }
#endif

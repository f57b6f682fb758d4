#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Makes the pipes of a program and starts it.
  struct ProcessStart {
    struct Program: @unchecked Sendable {
      let identifier: pid_t
      let pipes: StandardPipes
      let start: ContinuousClock.Instant
      /// What it has, if it has the terminal. Handed over to the supervisor's thread.
      let terminal: ForegroundTerminal?
    }

    enum Attempt: Sendable {
      case running(Program)
      case refused(ProcessError)
      /// The system has no processes or descriptors left, or the file is being written: maybe later.
      case busy(code: Int32)
    }

    private let configuration: ProcessConfiguration

    init(_ configuration: ProcessConfiguration) { self.configuration = configuration }

    func attempt() -> Attempt {
      var terminal: ForegroundTerminal?
      if configuration.terminal == .foreground {
        terminal = ForegroundTerminal()
        if let terminal, !terminal.isOurs { return .refused(isInBackground) }
      }
      guard let pipes = StandardPipes(for: configuration) else { return .busy(code: errno) }
      do throws(ProcessError) {
        let start = ContinuousClock.now
        switch try spawner(pipes, hasTerminal: terminal != nil).spawn() {
        case .running(let identifier):
          pipes.closeEnds(ofProgram: true, ours: false)
          terminal?.give(to: identifier)
          return .running(
            Program(identifier: identifier, pipes: pipes, start: start, terminal: terminal))
        case .busy(let code):
          pipes.closeEnds(ofProgram: true, ours: true)
          return .busy(code: code)
        }
      } catch {
        pipes.closeEnds(ofProgram: true, ours: true)
        return .refused(error)
      }
    }

    private var isInBackground: ProcessError {
      ProcessError(
        .notStarted, program: configuration.program,
        "'\(configuration.program)' needs the terminal, and this process is in the background")
    }

    private func spawner(_ pipes: StandardPipes, hasTerminal: Bool) -> Spawner {
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
          ? nil : stream(configuration.standardError, pipes.error),
        hasTerminal: hasTerminal)
    }

    private func stream(_ output: ProcessOutput, _ pipe: FileDescriptorPair?) -> StandardStream {
      if let pipe { return .descriptor(pipe.writing) }
      if case .inherited = output { return .inherited }
      return .null
    }
  }
#endif

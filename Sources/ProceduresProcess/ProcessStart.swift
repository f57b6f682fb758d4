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
      /// The terminal, if the program has it. Passed to the supervisor's thread.
      let terminal: ForegroundTerminal?
    }

    enum Attempt: Sendable {
      case running(Program)
      case refused(ProcessError)
      /// The system has no processes or descriptors left, or the file is being written. A later
      /// attempt may succeed.
      case busy(code: Int32)
    }

    private let configuration: ProcessConfiguration

    init(_ configuration: ProcessConfiguration) { self.configuration = configuration }

    func attempt() -> Attempt {
      // 1. Claim the terminal: only a foreground process may give it to the program.
      var terminal: ForegroundTerminal?
      if configuration.terminal == .foreground {
        terminal = ForegroundTerminal()
        if let terminal, !terminal.isOurs { return .refused(isInBackground) }
      }
      // 2. Open files and pipes. A lack of descriptors is worth a later attempt.
      let files: StandardFiles
      do {
        files = try StandardFiles(for: configuration)
      } catch {
        switch error {
        case .busy(let code): return .busy(code: code)
        case .refused(let error): return .refused(error)
        }
      }
      defer { files.closeAll() }
      guard configuration.hasItsPipes else { return .busy(code: errno) }
      guard let pipes = StandardPipes(for: configuration) else { return .busy(code: errno) }
      do throws(ProcessError) {
        // 3. Start the parent watch first: the program must not run without it.
        if configuration.endsWithThisProcess,
          case .busy(let code)? = try ParentWatch.shared.prepare(for: configuration)
        {
          pipes.closeEnds(ofProgram: true, ours: true)
          return .busy(code: code)
        }
        let start = ContinuousClock.now
        switch try spawner(pipes, files, hasTerminal: terminal != nil).spawn() {
        case .running(let identifier):
          // 4. Add the group before this thread goes on, then close the ends that the program has.
          if configuration.endsWithThisProcess {
            ParentWatch.shared.add(
              identifier, grace: configuration.terminationGracePeriod,
              outputs: [pipes.output, pipes.error].compactMap { $0?.reading })
          }
          pipes.closeEnds(ofProgram: true, ours: false)
          configuration.inputPipe?.close(.reading)
          configuration.outputPipe?.close(.writing)
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

    private func spawner(
      _ pipes: StandardPipes, _ files: StandardFiles, hasTerminal: Bool
    ) -> Spawner {
      var inheritsInput = false
      if case .inherited = configuration.standardInput { inheritsInput = true }
      return Spawner(
        configuration: configuration,
        input: stream(
          configuration.inputPipe?.descriptor(.reading) ?? pipes.input?.reading ?? files.input,
          isInherited: inheritsInput),
        output: stream(
          configuration.outputPipe?.descriptor(.writing) ?? pipes.output?.writing
            ?? files.output,
          isInherited: isInherited(configuration.standardOutput)),
        error: configuration.mergesStandardError
          ? nil
          : stream(
            pipes.error?.writing ?? files.error,
            isInherited: isInherited(configuration.standardError)),
        hasTerminal: hasTerminal)
    }

    private func isInherited(_ output: ProcessOutput) -> Bool {
      if case .inherited = output { true } else { false }
    }

    private func stream(_ descriptor: Int32?, isInherited: Bool) -> StandardStream {
      if let descriptor { return .descriptor(descriptor) }
      return isInherited ? .inherited : .null
    }
  }

  extension ProcessConfiguration {
    /// False if the system has no descriptors left for the pipes to its neighbours, with `errno`
    /// set.
    fileprivate var hasItsPipes: Bool {
      (inputPipe == nil || inputPipe?.descriptor(.reading) != nil)
        && (outputPipe == nil || outputPipe?.descriptor(.writing) != nil)
    }
  }
#endif

#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// The pipes of a program's standard streams that are pipes.
  struct StandardPipes: Sendable {
    private(set) var input: FileDescriptorPair?
    private(set) var output: FileDescriptorPair?
    private(set) var error: FileDescriptorPair?

    /// Nil if the system has no descriptors left; then no pipe is left open.
    init?(for configuration: ProcessConfiguration) {
      func isRead(_ output: ProcessOutput) -> Bool {
        switch output {
        case .captured, .streamed, .lines: true
        case .inherited, .discarded, .file: false
        }
      }
      var isComplete = true
      func pipe(if isNeeded: Bool) -> FileDescriptorPair? {
        guard isNeeded, isComplete else { return nil }
        let pipe = FileDescriptorPair()
        isComplete = pipe != nil
        return pipe
      }
      if configuration.inputPipe == nil {
        switch configuration.standardInput {
        case .data, .stream: input = pipe(if: true)
        case .none, .file, .inherited: break
        }
      }
      output = pipe(if: configuration.outputPipe == nil && isRead(configuration.standardOutput))
      error = pipe(
        if: !configuration.mergesStandardError && isRead(configuration.standardError))
      if isComplete { return }
      let code = errno
      closeEnds(ofProgram: true, ours: true)
      errno = code
      return nil
    }

    func closeEnds(ofProgram: Bool, ours: Bool) {
      if let input {
        if ofProgram { close(input.reading) }
        if ours { close(input.writing) }
      }
      for pipe in [output, error] {
        if ofProgram, let pipe { close(pipe.writing) }
        if ours, let pipe { close(pipe.reading) }
      }
    }
  }
#endif

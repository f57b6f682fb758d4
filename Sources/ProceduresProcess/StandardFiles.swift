#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// The files of a program's standard streams that are files; open until `closeAll()`.
  struct StandardFiles {
    enum Failure: Error {
      /// The system is too busy for it now.
      case busy(code: Int32)
      case refused(ProcessError)
    }

    private(set) var input: Int32?
    private(set) var output: Int32?
    private(set) var error: Int32?

    /// Opens the files. After an error none is left open.
    init(for configuration: ProcessConfiguration) throws(Failure) {
      do throws(Failure) {
        if case .file(let path) = configuration.standardInput, configuration.inputPipe == nil {
          input = try Self.open(path, O_RDONLY, for: configuration)
        }
        if configuration.outputPipe == nil {
          output = try Self.open(configuration.standardOutput, for: configuration)
        }
        if !configuration.mergesStandardError {
          error = try Self.open(configuration.standardError, for: configuration)
        }
      } catch {
        closeAll()
        throw error
      }
    }

    func closeAll() {
      for descriptor in [input, output, error] {
        if let descriptor { close(descriptor) }
      }
    }

    private static func open(
      _ output: ProcessOutput, for configuration: ProcessConfiguration
    ) throws(Failure) -> Int32? {
      guard case .file(let path, let appending) = output else { return nil }
      // It always appends, so that two streams to one file do not overwrite each other.
      return try open(
        path, O_WRONLY | O_CREAT | O_APPEND | (appending ? 0 : O_TRUNC), for: configuration)
    }

    private static func open(
      _ path: String, _ flags: Int32, for configuration: ProcessConfiguration
    ) throws(Failure) -> Int32 {
      let isRelative = path.utf8.first != UInt8(ascii: "/")
      let place = isRelative ? configuration.directory.map { $0 + "/" + path } ?? path : path
      // The system would read the path up to that byte only.
      let hasZero = place.utf8.contains(0)
      let descriptor = hasZero ? -1 : openDescriptor(place, flags | O_CLOEXEC)
      let code = hasZero ? EINVAL : errno
      // If a standard stream of this process is closed, the descriptor may have its number, and
      // would be overwritten.
      guard descriptor >= 0 else {
        if code == EMFILE || code == ENFILE { throw .busy(code: code) }
        throw .refused(
          ProcessError(
            .fileNotOpened, program: configuration.program,
            "'\(path)', for '\(configuration.program)', cannot be opened: "
              + (hasZero ? "its path has a zero byte" : ProgramLookup.message(for: code))))
      }
      guard descriptor <= 2 else { return descriptor }
      defer { close(descriptor) }
      let raised = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
      guard raised >= 0 else { throw .busy(code: errno) }
      return raised
    }
  }

  /// It needs another name, since a method is called `open`.
  private func openDescriptor(_ path: String, _ flags: Int32) -> Int32 {
    unsafe open(path, flags, 0o666)
  }
#endif

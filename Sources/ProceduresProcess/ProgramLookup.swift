#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Finds the file to execute, and explains why a file cannot be executed.
  ///
  /// `posix_spawn` answers ENOENT alike for a missing program, a missing interpreter and a missing
  /// directory, and `posix_spawnp` searches the `PATH` of this process instead of the program's.
  struct ProgramLookup {
    /// A byte, since a combining mark after it would form another `Character`.
    private static let slash = UInt8(ascii: "/")

    let program: String
    let searchPath: String
    let directory: String?

    init(_ configuration: ProcessConfiguration) {
      program = configuration.program
      searchPath = configuration.environment["PATH"] ?? "/usr/bin:/bin"
      directory = configuration.directory
    }

    /// The path to execute, as seen from the working directory of the program.
    func path() throws(ProcessError) -> String {
      try checkDirectory()
      if program.utf8.contains(Self.slash) {
        try checkFile(program)
        return program
      }
      var refused: String?
      let entries = searchPath.utf8.split(
        separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      for entry in entries {
        let candidate = (entry.isEmpty ? "." : String(Substring(entry))) + "/" + program
        guard !program.isEmpty, mode(of: candidate) != nil else { continue }
        if isExecutable(candidate) { return candidate }
        refused = refused ?? candidate
      }
      if let refused { try checkFile(refused) }
      throw error(.programNotFound, "there is no program '\(program)' in PATH (\(searchPath))")
    }

    /// The error for a file that passed `path()`, but that the system refused.
    func refusal(ofPath path: String, code: Int32) -> ProcessError {
      switch code {
      case ENOENT:
        error(.notExecutable, "'\(path)' cannot be run: the interpreter it names does not exist")
      case ENOEXEC:
        error(.notExecutable, "'\(path)' is not in a format that this system can execute")
      case E2BIG:
        error(.notStarted, "'\(program)' got more arguments and environment than the system allows")
      default:
        error(.notStarted, "'\(program)' could not be started: \(Self.message(for: code))")
      }
    }

    static func message(for code: Int32) -> String {
      guard let text = unsafe strerror(code) else { return "error \(code)" }
      return unsafe String(cString: text)
    }

    private func checkDirectory() throws(ProcessError) {
      guard let directory else { return }
      let reason: String
      switch Self.mode(ofFile: directory) {
      // The system would read the path up to that byte only.
      case _ where directory.utf8.contains(0): reason = "has a zero byte in its path"
      case nil: reason = "does not exist"
      case let mode? where mode & S_IFMT != S_IFDIR: reason = "is not a directory"
      default:
        if unsafe access(directory, X_OK) == 0 { return }
        reason = "may not be entered"
      }
      throw error(
        .directoryNotFound, "the directory '\(directory)' to run '\(program)' in \(reason)")
    }

    private func checkFile(_ path: String) throws(ProcessError) {
      guard let mode = mode(of: path) else {
        throw error(.programNotFound, "there is no program '\(path)'")
      }
      if mode & S_IFMT == S_IFDIR {
        throw error(.notExecutable, "'\(path)' is a directory, not a program")
      }
      guard isExecutable(path) else {
        throw error(.notExecutable, "'\(path)' is not executable")
      }
    }

    private func isExecutable(_ path: String) -> Bool {
      guard let mode = mode(of: path), mode & S_IFMT == S_IFREG else { return false }
      return unsafe access(fromDirectory(path), X_OK) == 0
    }

    private func mode(of path: String) -> mode_t? { Self.mode(ofFile: fromDirectory(path)) }

    private static func mode(ofFile path: String) -> mode_t? {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      return status.st_mode
    }

    private func fromDirectory(_ path: String) -> String {
      guard let directory, path.utf8.first != Self.slash else { return path }
      return directory + "/" + path
    }

    private func error(_ code: ProcessError.Code, _ description: String) -> ProcessError {
      ProcessError(code, program: program, description)
    }
  }
#endif

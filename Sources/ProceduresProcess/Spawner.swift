#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// The target of a standard stream of the new program.
  enum StandardStream {
    case inherited
    case null
    case descriptor(Int32)
  }

  /// Starts a program in a session, or at least a process group, of its own, with `posix_spawn`.
  ///
  /// `Foundation.Process` does not do: on Linux it notices the end of a program by a socket that
  /// the program inherits, so a program that leaves another one in the background never ends. It
  /// also promises no process group, names the program when the directory is missing, and a program
  /// that does not read its input kills this process by SIGPIPE.
  struct Spawner {
    let configuration: ProcessConfiguration
    let input: StandardStream
    let output: StandardStream
    /// nil: the same place as `output`.
    let error: StandardStream?
    let hasTerminal: Bool

    enum Outcome {
      case running(pid_t)
      /// The system is too busy for it now.
      case busy(code: Int32)
    }

    /// Blocks until the program has replaced the copy of this process, which is an instant.
    func spawn() throws(ProcessError) -> Outcome {
      let lookup = ProgramLookup(configuration)
      let path = try lookup.path()
      let words = [configuration.program] + configuration.arguments
      for text in words where text.utf8.contains(0) {
        throw ProcessError(
          .notStarted, program: configuration.program,
          "'\(configuration.program)' cannot be given a text that contains a zero byte")
      }
      guard configuration.environment.isPossible else {
        throw ProcessError(
          .notStarted, program: configuration.program,
          "'\(configuration.program)' cannot be given a variable whose name is empty or contains "
            + "'=', or that contains a zero byte")
      }

      #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
      #else
        var actions = unsafe posix_spawn_file_actions_t()
        #if canImport(Musl)
          // The type contains a pointer with musl.
          var attributes = unsafe posix_spawnattr_t()
        #else
          var attributes = posix_spawnattr_t()
        #endif
      #endif
      unsafe posix_spawn_file_actions_init(&actions)
      unsafe posix_spawnattr_init(&attributes)
      defer {
        unsafe posix_spawn_file_actions_destroy(&actions)
        unsafe posix_spawnattr_destroy(&attributes)
      }

      unsafe connect(input, to: 0, &actions)
      unsafe connect(output, to: 1, &actions)
      if let error {
        unsafe connect(error, to: 2, &actions)
      } else {
        unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
      }
      var code = unsafe changeDirectory(&actions)
      #if canImport(Glibc)
        // The program must not inherit descriptors that other code did not mark close-on-exec.
        _ = unsafe SystemFunctions.addCloseFrom?(&actions, 3)
      #endif
      unsafe setAttributes(&attributes)

      var identifier: pid_t = 0
      if code == 0 {
        code = unsafe Self.withCStrings(words) { words in
          unsafe configuration.environment.withPointers { environment in
            unsafe posix_spawn(&identifier, path, &actions, &attributes, words, environment)
          }
        }
      }
      switch code {
      case 0: return .running(identifier)
      case EAGAIN, ENOMEM, EMFILE, ENFILE, ETXTBSY: return .busy(code: code)
      default: throw lookup.refusal(ofPath: path, code: code)
      }
    }

    /// The error for a start that the system is too busy for.
    static func refusal(of program: String, code: Int32) -> ProcessError {
      let reason =
        switch code {
        case EAGAIN: "the system allows no more processes (ulimit -u)"
        case EMFILE, ENFILE: "the system allows no more open files (ulimit -n)"
        default: ProgramLookup.message(for: code)
        }
      return ProcessError(
        .notStarted, program: program, "'\(program)' could not be started: \(reason)")
    }

    #if canImport(Darwin)
      private typealias FileActions = posix_spawn_file_actions_t?
      private typealias Attributes = posix_spawnattr_t?
    #else
      private typealias FileActions = posix_spawn_file_actions_t
      private typealias Attributes = posix_spawnattr_t
    #endif

    private func connect(
      _ stream: StandardStream, to target: Int32, _ actions: inout FileActions
    ) {
      switch stream {
      case .descriptor(let descriptor):
        unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, target)
      case .null:
        unsafe posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDWR, 0)
      case .inherited:
        #if canImport(Darwin)
          unsafe posix_spawn_file_actions_addinherit_np(&actions, target)
        #endif
      }
    }

    private func changeDirectory(_ actions: inout FileActions) -> Int32 {
      guard let directory = configuration.directory else { return 0 }
      #if canImport(Glibc)
        guard let addDirectory = unsafe SystemFunctions.addDirectory else { return ENOSYS }
        return unsafe addDirectory(&actions, directory)
      #else
        return unsafe posix_spawn_file_actions_addchdir_np(&actions, directory)
      #endif
    }

    /// Sets a session or a group of its own, no blocked signal, and the default effect of every
    /// signal: a program must not inherit that this process ignores SIGINT or SIGPIPE.
    @unsafe private func setAttributes(_ attributes: inout Attributes) {
      var none = sigset_t()
      unsafe sigemptyset(&none)
      var all = sigset_t()
      unsafe sigfillset(&all)
      unsafe sigdelset(&all, SIGKILL)
      unsafe sigdelset(&all, SIGSTOP)
      unsafe posix_spawnattr_setsigmask(&attributes, &none)
      unsafe posix_spawnattr_setsigdefault(&attributes, &all)
      var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
      if hasTerminal {
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        flags |= POSIX_SPAWN_SETPGROUP
      } else {
        // A new session has no terminal, and its first process leads a group.
        flags |= SystemFunctions.startsSession
      }
      #if canImport(Darwin)
        flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
      #endif
      unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    }

    private static func withCStrings<Result>(
      _ strings: [String],
      _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
      var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
      defer { unsafe pointers.forEach { unsafe free($0) } }
      return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
        // There is always the terminating nil, so the buffer has a base address.
        unsafe body(buffer.baseAddress!)
      }
    }
  }
#endif

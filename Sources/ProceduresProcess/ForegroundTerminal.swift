#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// The terminal that this process controls, while a program has it.
  final class ForegroundTerminal {
    private let descriptor: Int32
    private var settings = termios()

    /// nil when there is no terminal.
    init?() {
      descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      unsafe tcgetattr(descriptor, &settings)
    }

    deinit { close(descriptor) }

    /// Whether this process is in the foreground.
    var isOurs: Bool { tcgetpgrp(descriptor) == getpgrp() }

    /// Gives the terminal to a process group, and continues it, since the system stops a program
    /// that uses the terminal too early.
    func give(to group: pid_t) {
      setForeground(group)
      _ = killpg(group, SIGCONT)
    }

    /// Takes the terminal back.
    ///
    /// - Parameter restoring: whether to restore its settings, since the program may not have had
    ///   time for that.
    func takeBack(restoring: Bool) {
      setForeground(getpgrp())
      if restoring { unsafe tcsetattr(descriptor, TCSADRAIN, &settings) }
    }

    /// Stops this process as Ctrl-Z does; returns when it continues.
    ///
    /// The signal goes to this thread, which therefore cannot run on before all threads have
    /// stopped.
    func stopThisProcess() { raise(SIGSTOP) }

    /// Blocks SIGTTOU meanwhile, which would stop this process in the background.
    private func setForeground(_ group: pid_t) {
      var blocked = sigset_t()
      unsafe sigemptyset(&blocked)
      unsafe sigaddset(&blocked, SIGTTOU)
      var before = sigset_t()
      unsafe pthread_sigmask(SIG_BLOCK, &blocked, &before)
      tcsetpgrp(descriptor, group)
      unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    }
  }
#endif

#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  enum ChildStatus {
    /// Whether the process has ended, or is no longer a child of this process. Does not reap it.
    static func hasEnded(_ identifier: pid_t) -> Bool {
      look(at: identifier, WEXITED | WNOWAIT) != .nothing
    }

    /// Whether a signal or the terminal has stopped the process since the last call.
    static func wasStopped(_ identifier: pid_t) -> Bool {
      look(at: identifier, WSTOPPED) == .changed
    }

    /// Reaps an ended process and returns its status; nil if other code has reaped it.
    static func reap(_ identifier: pid_t) -> ProcessExit? {
      var status: Int32 = 0
      var reaped: pid_t
      repeat { reaped = unsafe waitpid(identifier, &status, 0) } while reaped < 0 && errno == EINTR
      guard reaped == identifier else { return nil }
      // The layout that WIFEXITED, WEXITSTATUS and WTERMSIG read; Swift does not import macros.
      let signal = status & 0x7f
      return signal == 0 ? .status((status >> 8) & 0xff) : .signal(signal)
    }

    private enum Answer { case changed, nothing, noChild }

    private static func look(at identifier: pid_t, _ what: Int32) -> Answer {
      var information = unsafe siginfo_t()
      while true {
        let code = unsafe waitid(P_PID, id_t(identifier), &information, what | WNOHANG)
        if code == 0 { return unsafe information.si_signo == SIGCHLD ? .changed : .nothing }
        if errno != EINTR { return .noChild }
      }
    }
  }
#endif

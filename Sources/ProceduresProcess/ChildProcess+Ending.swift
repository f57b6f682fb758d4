#if os(macOS) || os(Linux)
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Signals to the program's group, on the supervisor's thread.
  extension ChildProcess {
    func terminateGroup() {
      guard !isDone, !isTerminating else { return }
      isTerminating = true
      guard identifier > 0 else { return giveUpStarting() }
      signalTermination()
      after(configuration.terminationGracePeriod) { $0.killGroup() }
      advance()
    }

    func killGroup() {
      isKillRequested = true
      guard !isDone else { return }
      isTerminating = true
      guard identifier > 0 else { return giveUpStarting() }
      signalGroup(SIGKILL)
      // The wait for killed processes is limited: one may hang in a system call.
      after(.milliseconds(500)) { child in
        child.groupTimeIsUp = true
        child.advance()
      }
      advance()
    }

    func signalTermination() {
      signalGroup(SIGTERM)
      // A stopped program would not see SIGTERM before it continues.
      signalGroup(SIGCONT)
    }

    func signalGroup(_ signal: Int32) {
      guard !isReaped || !group.isGone else { return }
      group.signal(signal)
    }

    var group: ProcessGroup { ProcessGroup(identifier: identifier) }

    /// Gives up a start for which the system was too busy, after a cancel.
    ///
    /// The program may run already without this thread knowing: then `run` ends it.
    private func giveUpStarting() {
      guard isWaitingToStart else { return }
      complete(.failure(Spawner.refusal(of: configuration.program, code: EAGAIN)))
    }

    /// Calls `body` in 20 ms; further calls before that have no effect.
    func lookLater(_ body: @escaping @Sendable (ChildProcess) -> Void) {
      guard !isLookingLater else { return }
      isLookingLater = true
      after(.milliseconds(20)) { child in
        child.isLookingLater = false
        body(child)
      }
    }

    /// Calls `body` after `duration`, unless the child is done then.
    func after(_ duration: Duration, _ body: @escaping @Sendable (ChildProcess) -> Void) {
      supervisor.after(duration) {
        if !self.isDone { body(self) }
      }
    }
  }
#endif

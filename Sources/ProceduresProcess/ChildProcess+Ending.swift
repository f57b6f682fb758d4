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
      // Killed processes are not waited for without end: one may hang in a system call.
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

    /// The system was too busy for it, and now it is no longer wanted.
    ///
    /// It may also run already, and this thread not have heard of it: then `run` comes back to this.
    private func giveUpStarting() {
      guard isWaitingToStart else { return }
      complete(.failure(Spawner.refusal(of: configuration.program, code: EAGAIN)))
    }

    /// Once, if it is called several times before that.
    func lookLater(_ body: @escaping @Sendable (ChildProcess) -> Void) {
      guard !isLookingLater else { return }
      isLookingLater = true
      after(.milliseconds(20)) { child in
        child.isLookingLater = false
        body(child)
      }
    }

    /// It is not called once the child is done.
    func after(_ duration: Duration, _ body: @escaping @Sendable (ChildProcess) -> Void) {
      supervisor.after(duration) {
        if !self.isDone { body(self) }
      }
    }
  }
#endif

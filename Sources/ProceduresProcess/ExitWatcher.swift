#if os(macOS) || os(Linux)
  internal import Dispatch
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Calls back once, on the supervisor's thread, when a child process has ended. Does not reap it.
  ///
  /// Until it is reaped, the system cannot give its identifier, which is also its group's, to
  /// another process, so signalling the group is safe. No thread waits for it.
  enum ExitWatcher {
    #if canImport(Darwin)
      /// All threads of the global queues, some 64 there, may be blocked by code that waits for a
      /// program. A serial queue of its own gets a thread nevertheless.
      private static let queue = DispatchQueue(label: "procedures.exits", qos: .userInitiated)
    #endif

    static func watch(
      _ identifier: pid_t, by supervisor: ProcessSupervisor, handler: @escaping @Sendable () -> Void
    ) {
      #if canImport(Darwin)
        let source = DispatchSource.makeProcessSource(
          identifier: identifier, eventMask: .exit, queue: queue)
        source.setEventHandler { @Sendable in
          // Keeps the source alive until it has fired.
          source.cancel()
          supervisor.post(handler)
        }
        source.activate()
      #else
        #if canImport(Glibc)
          if let descriptor = SystemFunctions.openProcessDescriptor?(identifier, 0),
            descriptor >= 0
          {
            // A process descriptor is readable once the process has ended.
            _ = supervisor.wait(for: descriptor, .reading) {
              close(descriptor)
              handler()
            }
            return
          }
        #endif
        look(at: identifier, every: .milliseconds(1), supervisor, handler)
      #endif
    }

    #if !canImport(Darwin)
      /// Polls, ever less often, on an old kernel, with another C library, or without a free
      /// descriptor.
      private static func look(
        at identifier: pid_t, every interval: Duration, _ supervisor: ProcessSupervisor,
        _ handler: @escaping @Sendable () -> Void
      ) {
        if ChildStatus.hasEnded(identifier) { return handler() }
        supervisor.after(interval) {
          look(at: identifier, every: min(interval * 2, .milliseconds(20)), supervisor, handler)
        }
      }
    #endif
  }
#endif

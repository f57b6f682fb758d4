#if os(macOS) || os(Linux)
  internal import Dispatch
  internal import Foundation
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// Calls back once, on a queue, when a child process has ended; it does not reap it.
  ///
  /// Until it is reaped its identifier, which is also that of its group, cannot be given to
  /// another process, so signalling the group is safe.
  enum ExitWatcher {
    static func watch(
      _ identifier: pid_t, on queue: DispatchQueue, handler: @escaping @Sendable () -> Void
    ) {
      #if canImport(Darwin)
        let source = DispatchSource.makeProcessSource(
          identifier: identifier, eventMask: .exit, queue: queue)
        source.setEventHandler { @Sendable in
          // Keeps the source alive until it has fired.
          source.cancel()
          handler()
        }
        source.activate()
      #else
        #if canImport(Glibc)
          if let descriptor = SystemFunctions.openProcessDescriptor?(identifier, 0),
            descriptor >= 0
          {
            // A process descriptor is readable once the process has ended: no thread waits.
            _ = DescriptorMonitor.shared.wait(for: descriptor, .reading, on: queue) {
              close(descriptor)
              handler()
            }
            return
          }
        #endif
        // An old kernel or another C library: one waiting thread for each running program.
        Thread.detachNewThread {
          var information = unsafe siginfo_t()
          repeat {
            errno = 0
            _ = unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT)
          } while errno == EINTR
          queue.async(execute: handler)
        }
      #endif
    }
  }
#endif

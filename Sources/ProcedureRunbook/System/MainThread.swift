import Dispatch

#if canImport(Darwin)
  import Foundation
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Serves the main queue with the thread that the process began with.
///
/// `dispatchMain()` would give the queue to threads of a pool on Linux, and under a limit on processes
/// there may be none. So it is done as a run loop does it, without Foundation's, which alone is half of
/// the time that this program takes to start.
enum MainThread {
  static func serveMainQueue() -> Never {
    #if canImport(Darwin)
      while true { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
    #else
      var entry = pollfd(fd: mainQueueDescriptor(), events: Int16(POLLIN), revents: 0)
      while true {
        guard unsafe poll(&entry, 1, -1) > 0 else { continue }
        // How often it was asked for; all that is there is done at once.
        var count: UInt64 = 0
        _ = unsafe read(entry.fd, &count, MemoryLayout<UInt64>.size)
        drainMainQueue(nil)
      }
    #endif
  }
}

#if !canImport(Darwin)
  // What Dispatch offers to run loops.

  @_silgen_name("_dispatch_get_main_queue_handle_4CF")
  private func mainQueueDescriptor() -> Int32

  @_silgen_name("_dispatch_main_queue_callback_4CF")
  private func drainMainQueue(_ message: UnsafeMutableRawPointer?)
#endif

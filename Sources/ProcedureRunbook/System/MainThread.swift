import Dispatch

#if canImport(Darwin)
  import Foundation
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Serves the main queue on the thread that the process began with.
///
/// `dispatchMain()` would serve it on threads of a pool on Linux, and under a limit on processes
/// there may be none. So this is a run loop of its own: Foundation's would take half of the start
/// time of this program.
enum MainThread {
  static func serveMainQueue() -> Never {
    #if canImport(Darwin)
      while true { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
    #else
      var entry = pollfd(fd: mainQueueDescriptor(), events: Int16(POLLIN), revents: 0)
      while true {
        guard unsafe poll(&entry, 1, -1) > 0 else { continue }
        // The number of wake-ups; one drain runs all blocks.
        var count: UInt64 = 0
        _ = unsafe read(entry.fd, &count, MemoryLayout<UInt64>.size)
        drainMainQueue(nil)
      }
    #endif
  }
}

#if !canImport(Darwin)
  // The functions of Dispatch for run loops.

  @_silgen_name("_dispatch_get_main_queue_handle_4CF")
  private func mainQueueDescriptor() -> Int32

  @_silgen_name("_dispatch_main_queue_callback_4CF")
  private func drainMainQueue(_ message: UnsafeMutableRawPointer?)
#endif

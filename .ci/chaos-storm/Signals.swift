import Foundation

#if canImport(Glibc)
  import Glibc

  // Of the C library, which its module leaves out.
  @_silgen_name("gettid") func threadID() -> Int32
  @_silgen_name("tgkill") func sendSignal(_ process: Int32, _ thread: Int32, _ signal: Int32)
    -> Int32
#endif

/// From here on a signal stops each thread of the process now and then, for some 300 microseconds, between
/// any two instructions: what a sampling profiler does.
func interruptEveryThread() {
  #if canImport(Glibc)
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in
      // What may be called in a handler is little: this reads the clock.
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      let end = time.tv_sec * 1_000_000_000 + time.tv_nsec + 300_000
      repeat {
        clock_gettime(CLOCK_MONOTONIC, &time)
      } while time.tv_sec * 1_000_000_000
        + time.tv_nsec < end
    }
    action.sa_flags = SA_RESTART
    sigaction(SIGPROF, &action, nil)
    Thread.detachNewThread {
      let own = threadID()
      while true {
        let threads =
          (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        for _ in 0..<20 {
          if let thread = threads.randomElement().flatMap({ pid_t($0) }), thread != own {
            _ = sendSignal(getpid(), thread, SIGPROF)
          }
          usleep(UInt32.random(in: 100...2_000))
        }
      }
    }
  #else
    print("storm: there are signals on Linux only")
  #endif
}

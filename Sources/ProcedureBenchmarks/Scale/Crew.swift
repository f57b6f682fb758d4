import Foundation

/// Threads that begin their work at the same moment.
enum Crew {
  /// Has each of `count` threads call `body` with its number, and then calls `finish`.
  ///
  /// It blocks the calling thread.
  ///
  /// - Returns: the seconds from the moment when all threads begin until `finish` has returned, and
  ///   what the process used meanwhile. Making the threads is not measured.
  static func measure(
    _ count: Int, finish: () -> Void, _ body: @escaping @Sendable (_ thread: Int) -> Void
  ) -> (seconds: Double, use: ProcessUse) {
    let (areReady, mayBegin) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let areDone = DispatchSemaphore(value: 0)
    for number in 0..<count {
      Thread.detachNewThread {
        areReady.signal()
        mayBegin.wait()
        body(number)
        areDone.signal()
      }
    }
    for _ in 0..<count { areReady.wait() }
    let use = ProcessUse.now
    let time = ContinuousClock().measure {
      for _ in 0..<count { mayBegin.signal() }
      for _ in 0..<count { areDone.wait() }
      finish()
    }
    return (time.nanoseconds / 1e9, ProcessUse.now - use)
  }
}

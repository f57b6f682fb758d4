#if os(macOS) || os(Linux)
  internal import Dispatch
  internal import ProcedurePrimitives

  /// A few threads for user code, which may block: handlers of output, and the work after a
  /// program's end.
  ///
  /// 1. The first thread is made together with the supervisor's thread, and stays. More are made as
  ///    needed, up to the limit, and end after ten idle seconds.
  /// 2. If the system refuses more, the existing ones do the work.
  /// 3. Jobs begin in the order of submission.
  package final class HandlerThreads: Sendable {
    package typealias Job = @Sendable () -> Void

    /// For handlers of output: this many may block before others wait for them.
    static let output = HandlerThreads(limit: 16)
    /// For the ends of programs, which must not wait for a blocked handler of output.
    static let ends = HandlerThreads(limit: 1)

    private struct State {
      var line = Fifo<Job>()
      var idleCount = 0
      var count = 0
    }

    private let limit: Int
    private let state = Locked(State())
    private let work = DispatchSemaphore(value: 0)

    package init(limit: Int) { self.limit = limit }

    /// Makes the first thread, unless it exists; false if the system refuses it.
    package func prepare() -> Bool {
      let mustStart = state.withLock { state in
        guard state.count == 0 else { return false }
        state.count = 1
        return true
      }
      return mustStart ? startThread() : true
    }

    package func run(_ job: @escaping Job) {
      let needsThread = state.withLock { state in
        state.line.append(job)
        guard state.line.count > state.idleCount, state.count < limit else { return false }
        state.count += 1
        return true
      }
      work.signal()
      if needsThread { _ = startThread() }
    }

    private func startThread() -> Bool {
      if BackgroundThread.start({ self.loop() }) { return true }
      state.withLock { $0.count -= 1 }
      return false
    }

    private func loop() {
      while true {
        let isLast = state.withLock { state in
          state.idleCount += 1
          return state.count == 1
        }
        let result = work.wait(timeout: isLast ? .distantFuture : .now() + .seconds(10))
        let (job, isOver) = state.withLock { state -> (Job?, Bool) in
          state.idleCount -= 1
          if result == .success { return (state.line.popFirst(), false) }
          // The last thread stays.
          guard state.line.isEmpty, state.count > 1 else { return (nil, false) }
          state.count -= 1
          return (nil, true)
        }
        if isOver { return }
        job?()
      }
    }
  }
#endif

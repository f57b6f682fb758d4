internal import Dispatch
internal import ProcedurePrimitives

/// Waits for an `async` function in real time, for a limited duration.
enum RealTimeWait {
  /// False if `duration` passed first, or the task was cancelled.
  static func finishes(
    within duration: Duration, _ wait: @escaping @Sendable () async -> Void
  ) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        await wait()
        return !Task.isCancelled
      }
      group.addTask {
        // Swift's own sleep stops the program at the longest durations.
        try? await Task.sleep(nanoseconds: duration.nanosecondsRoundedUp)
        return false
      }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
  }

  /// Like `finishes(within:_:)`, but blocks the calling thread.
  @available(*, noasync)
  static func blocks(
    forAtMost duration: Duration, _ wait: @escaping @Sendable () async -> Void
  ) -> Bool {
    let semaphore = DispatchSemaphore(value: 0)
    let task = Task {
      await wait()
      semaphore.signal()
    }
    defer { task.cancel() }
    let nanoseconds = Int(clamping: duration.nanosecondsRoundedUp)
    let deadline = DispatchTime.now() + .nanoseconds(nanoseconds)
    return semaphore.wait(timeout: deadline) == .success
  }
}

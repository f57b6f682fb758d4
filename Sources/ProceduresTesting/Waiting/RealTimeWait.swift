internal import Dispatch
internal import ProcedurePrimitives

/// Waits in real time, for something that is awaited, but not for longer than is given.
enum RealTimeWait {
  /// False if `duration` has passed before. Cancelling the task ends the wait as that does.
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

  /// The same, blocking the calling thread.
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

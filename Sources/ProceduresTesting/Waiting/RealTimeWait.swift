internal import Dispatch

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
        try? await Task.sleep(for: duration)
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
    let (seconds, attoseconds) = duration.components
    let nanoseconds = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let total = nanoseconds.overflow ? Int.max / 2 : nanoseconds.partialValue
    let deadline = DispatchTime.now() + .nanoseconds(total + Int(attoseconds / 1_000_000_000))
    return semaphore.wait(timeout: deadline) == .success
  }
}

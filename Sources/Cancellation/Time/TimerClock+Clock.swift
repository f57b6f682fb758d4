internal import ProcedurePrimitives

/// Tasks can sleep on it, as on every clock; on a test clock, in virtual time.
///
/// ```swift
/// try await queue.clock.sleep(for: .seconds(2))
/// ```
extension TimerClock: Clock {
  /// Instants of the continuous clock.
  public typealias Instant = ContinuousClock.Instant

  /// The resolution of the continuous clock.
  public var minimumResolution: Duration { ContinuousClock().minimumResolution }

  /// Suspends the task until `deadline`, never shorter. It blocks no thread.
  ///
  /// - Parameters:
  ///   - deadline: when to resume; the call returns at once if it has passed.
  ///   - tolerance: ignored.
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    guard deadline > now else { return }
    let sleep = Sleep()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        sleep.begin(continuation, until: deadline, on: service)
      }
    } onCancel: {
      sleep.cancel(on: service)
    }
  }
}

private final class Sleep: TimerTarget {
  private struct Wait: Sendable {
    var continuation: CheckedContinuation<Void, any Error>?
    var key: SlabKey?
    var isOver = false
  }

  private let wait = Locked(Wait())

  func begin(
    _ continuation: CheckedContinuation<Void, any Error>, until deadline: ContinuousClock.Instant,
    on service: any TimerService
  ) {
    let begins = wait.withLock { wait in
      if !wait.isOver { wait.continuation = continuation }
      return !wait.isOver
    }
    guard begins else { return continuation.resume(throwing: CancellationError()) }
    let key = service.schedule(self, at: deadline)
    let isWanted = wait.withLock { wait in
      if !wait.isOver { wait.key = key }
      return !wait.isOver
    }
    // Cancelled, or woken, in between.
    if !isWanted { service.cancel(key) }
  }

  func timerFired() {
    end().continuation?.resume()
  }

  func cancel(on service: any TimerService) {
    let (continuation, key) = end()
    if let key { service.cancel(key) }
    continuation?.resume(throwing: CancellationError())
  }

  private func end() -> (continuation: CheckedContinuation<Void, any Error>?, key: SlabKey?) {
    wait.withLock { wait in
      wait.isOver = true
      return (wait.continuation.take(), wait.key.take())
    }
  }
}

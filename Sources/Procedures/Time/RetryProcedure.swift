internal import Primitives

/// Tries until an attempt succeeds, with a wait in between.
///
/// ```swift
/// let fetch = RetryProcedure(max: 3, wait: .exponential(period: .seconds(1)).jittered()) {
///   Fetch(url)
/// }
/// print(try await queue.value(of: fetch))
/// ```
///
/// As `RepeatProcedure`, except that the next attempt is made only after one that failed. When an
/// attempt succeeds, the retry has; the errors of those before are dropped. When there is no further
/// attempt, it fails with the errors of the last one.
///
/// ## Cancellation
/// An attempt that is cancelled, by whomever, ends the retry as cancelled, with its errors: a cancel
/// says that the work is not wanted any more. An attempt that is given up after a time with
/// `timeout(after:)` is cancelled, too.
///
/// ## Changing the next attempt
/// A handler is told of each failure, and of what would be attempted next. It returns that, changed
/// or not, or nil to give up:
///
/// ```swift
/// RetryProcedure(max: 3) {
///   Fetch(url)
/// } retry: { failure, next in
///   guard case let error as Throttled = failure.errors[0] else { return nil }
///   var next = next
///   next.delay = error.retryAfter
///   return next
/// }
/// ```
nonisolated open class RetryProcedure<Attempt: Procedure>: RepeatProcedure<Attempt>,
  @unchecked Sendable
{
  /// Decides what is attempted after a failure; nil to give up.
  public typealias Handler =
    @Sendable (_ failure: RetryFailureInfo<Attempt>, _ next: RepeatProcedurePayload<Attempt>) ->
    RepeatProcedurePayload<Attempt>?

  // Touched only by whoever makes the next attempt, which happens one at a time.
  private final var handler: Handler?

  /// The attempt whose errors are not those of the retry.
  private final let excused = Locked<Attempt?>(nil)

  /// Makes a retry.
  ///
  /// - Parameters:
  ///   - max: how many attempts at most; nil for no limit.
  ///   - wait: how long to wait between two.
  ///   - body: makes an attempt; nil gives up.
  ///   - handler: is told of each failure, and may change the next attempt. Called one at a time, on
  ///     the queue's workers, and let go of when the retry has finished.
  public init(
    max: Int? = nil, wait: WaitStrategy = .immediate,
    body: @escaping @Sendable () -> Attempt?, retry handler: Handler? = nil
  ) {
    self.handler = handler
    super.init(max: max, wait: wait, body: body)
  }

  /// Makes a retry of what `iterator` says, which may give each attempt a delay of its own.
  public init(
    max: Int? = nil, wait: WaitStrategy = .immediate,
    iterator: some IteratorProtocol<RepeatProcedurePayload<Attempt>> & Sendable,
    retry handler: Handler? = nil
  ) {
    self.handler = handler
    super.init(max: max, wait: wait, iterator: iterator)
  }

  final override func releaseWork() {
    super.releaseWork()
    let released = handler.take()
    _ = released
  }

  // MARK: The next attempt

  final override func goesOn(after attempt: Attempt) -> Bool {
    switch attempt.outcome {
    case .failed:
      return true
    case .cancelled(let errors):
      excuse(attempt)
      if !cancel(withErrors: errors.named(after: attempt)) { excuse(nil) }
      return false
    case .succeeded, nil:
      return false
    }
  }

  final override func payload(after attempt: Attempt, instead payload: Payload) -> Payload? {
    guard let handler else { return payload }
    let failure = RetryFailureInfo(procedure: attempt, errors: attempt.errors, count: count)
    return handler(failure, payload)
  }

  final override func willAttempt(after attempt: Attempt) {
    excuse(attempt)
  }

  /// The errors of those that were tried again, or that the retry was cancelled with, are not its.
  final override func collect(_ errors: [any Error], of child: Procedure) {
    if excused.withLock({ $0 }) !== child { super.collect(errors, of: child) }
  }

  private func excuse(_ attempt: Attempt?) {
    let released = excused.withLock { excused in
      let released = excused
      excused = attempt
      return released
    }
    _ = released
  }
}

/// The short name.
public typealias Retry = RetryProcedure

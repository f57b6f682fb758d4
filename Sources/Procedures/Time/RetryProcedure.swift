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

  // Touched only in turns.
  private final var handler: Handler?

  /// Makes a retry.
  ///
  /// - Parameters:
  ///   - max: how many attempts at most; nil for no limit.
  ///   - wait: how long to wait between two.
  ///   - body: makes an attempt; nil gives up.
  ///   - handler: is told of each failure, and may change the next attempt. Called in the turns of
  ///     the retry, and let go of when the retry has finished.
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

  final override func goOn(after attempt: Attempt, _ errors: [any Error]) -> [any Error] {
    if attempt.isCancelled {
      return cancel(withErrors: errors.named(after: attempt)) ? [] : errors
    }
    guard !errors.isEmpty else { return [] }
    return makeAttempt(after: attempt) ? [] : errors
  }

  final override func payload(after attempt: Attempt, instead payload: Payload) -> Payload? {
    guard let handler else { return payload }
    let failure = RetryFailureInfo(procedure: attempt, errors: attempt.errors, count: count)
    return handler(failure, payload)
  }
}

/// Tries until an attempt succeeds, with a wait in between.
///
/// ```swift
/// let fetch = RetryProcedure(max: 3, wait: .exponential(period: .seconds(1)).jittered()) {
///   Fetch(url)
/// }
/// print(try await queue.value(of: fetch))
/// ```
///
/// Like `RepeatProcedure`, except that the next attempt is made only after one that ended with
/// errors. When an attempt succeeds, the retry succeeds; the errors of earlier attempts are
/// dropped. When there is no attempt at all, it fails with `ProcedureError.Code.notAttempted`. When there is no
/// further one, it fails with the errors of the last, unwrapped:
///
/// ```swift
/// do {
///   show(try await queue.value(of: fetch))
/// } catch let error as HTTPError {  // the third attempt's
///   show(error)
/// }
/// ```
///
/// Its progress is the progress of its current attempt.
///
/// ## Cancellation
/// An attempt that ends with errors is tried again, also if it was cancelled with them by something
/// of its own: its timeout, its deadline, a condition, a dependency that had to succeed. One that
/// was cancelled without errors ends the retry as cancelled: that says that the work is not wanted
/// any more. So does a cancel of the retry; its errors are then followed by the errors of the last
/// attempt that failed.
///
/// ## Changing the next attempt
/// A handler receives each failure, and what would be attempted next. It returns that, changed
/// or not, or nil to give up:
///
/// ```swift
/// RetryProcedure(max: 3) {
///   Fetch(url)
/// } retry: { failure, next in
///   guard let error = failure.errors.first as? Throttled else { return nil }
///   var next = next
///   next.delay = error.retryAfter
///   return next
/// }
/// ```
nonisolated open class RetryProcedure<Attempt: ProcedureProtocol>: RepeatProcedure<Attempt>,
  @unchecked Sendable
{
  /// Decides about the next attempt after a failure; nil to give up.
  public typealias Handler =
    @Sendable (_ failure: RetryFailureInfo<Attempt>, _ next: RepeatProcedurePayload<Attempt>) ->
    RepeatProcedurePayload<Attempt>?

  // Touched only in turns.
  private final var handler: Handler?
  private final var goesOn = false

  /// Makes a retry.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - max: how many attempts at most; nil for no limit. With 0 or less nothing is attempted, and it fails.
  ///   - wait: how long to wait between two.
  ///   - body: makes an attempt. A closure that may return nil gives up with that; with several
  ///     statements it says so: `{ () -> Fetch? in … }`.
  ///   - handler: receives each failure, and may change the next attempt. Called in the turns of
  ///     the retry, and released when the retry has finished.
  public init(
    name: String? = nil, max: Int? = nil, wait: WaitStrategy = .immediate,
    body: @escaping @Sendable () -> Attempt?, retry handler: Handler? = nil
  ) {
    self.handler = handler
    super.init(name: name, max: max, wait: wait, body: body)
  }

  /// Makes a retry of what `iterator` says, which may give each attempt a delay of its own.
  public init(
    name: String? = nil, max: Int? = nil, wait: WaitStrategy = .immediate,
    iterator: some IteratorProtocol<RepeatProcedurePayload<Attempt>> & Sendable,
    retry handler: Handler? = nil
  ) {
    self.handler = handler
    super.init(name: name, max: max, wait: wait, iterator: iterator)
  }

  final override func releaseWork() {
    super.releaseWork()
    let released = handler.take()
    _ = released
  }

  // MARK: The next attempt

  /// What was never tried has not succeeded.
  final override var errorsWithoutAttempt: [any Error] { [ProcedureError(.notAttempted, of: name)] }

  final override func goOn(after attempt: Attempt, _ errors: [any Error]) {
    goesOn = false
    if !errors.isEmpty {
      goesOn = makeAttempt(after: attempt)
    } else if attempt.isCancelled, !attempt.failed, !isCancelled {
      setOwnErrors([])
      cancel()
    }
  }

  final override func relation(to child: Procedure) -> ChildRelation {
    let relation = super.relation(to: child)
    if case .whole = relation, goesOn { return .wholeSoFar }
    return relation
  }

  final override func ends(with child: Procedure) -> Bool {
    child === current && childList?.count == 1
  }

  /// Attempts before the last have come to nothing.
  final override var progressSource: Procedure? { current }

  final override func payload(after attempt: Attempt, instead payload: Payload) -> Payload? {
    guard let handler else { return payload }
    let failure = RetryFailureInfo(procedure: attempt, errors: attempt.errors, count: count)
    return handler(failure, payload)
  }
}

/// A failed attempt, and its errors.
public struct RetryFailureInfo<Attempt: ProcedureProtocol>: Sendable {
  /// The attempt, which is about to finish.
  public let procedure: Attempt

  /// Its errors.
  public let errors: [any Error]

  /// How many attempts there have been, with this one.
  public let count: Int
}

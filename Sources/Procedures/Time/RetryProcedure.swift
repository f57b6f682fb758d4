/// Makes attempts until one succeeds, with a wait between two.
///
/// ```swift
/// let fetch = RetryProcedure(max: 3, wait: .exponential(period: .seconds(1)).jittered()) {
///   Fetch(url)
/// }
/// print(try await queue.value(of: fetch))
/// ```
///
/// It works like `RepeatProcedure`, except that it makes the next attempt only after an attempt
/// that ended with errors. When an attempt succeeds, the retry succeeds; the errors of earlier
/// attempts are dropped. If no attempt was made, it fails with `ProcedureError.Code.notAttempted`.
/// If no further attempt follows, it fails with the errors of the last attempt, without wrapping
/// them:
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
/// An attempt that ends with errors is followed by another one, even if it was cancelled with them:
/// by its timeout, its deadline, a condition, or a dependency that had to succeed. An attempt that
/// was cancelled without errors ends the retry as cancelled: the work is no longer wanted. So does
/// a cancel of the retry; its errors are then followed by the errors of the last attempt that
/// failed.
///
/// ## Changing the next attempt
/// A handler receives each failure, and the next attempt. It returns the attempt, changed or not,
/// or nil to give up:
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

  /// Accessed only in the group's turns.
  private final var handler: Handler?

  /// Makes a retry.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - max: the most attempts; nil for no limit. With 0 or less it makes no attempt, and fails.
  ///   - wait: how long to wait between two attempts.
  ///   - body: makes an attempt, or returns nil to give up. A closure of several statements that
  ///     may return nil needs its type: `{ () -> Fetch? in … }`.
  ///   - handler: receives each failure, and may change the next attempt. Called in the turns of
  ///     the retry, and released when the retry has finished.
  public init(
    name: String? = nil, max: Int? = nil, wait: WaitStrategy = .immediate,
    body: @escaping @Sendable () -> Attempt?, retry handler: Handler? = nil
  ) {
    self.handler = handler
    super.init(name: name, max: max, wait: wait, body: body)
  }

  /// Makes a retry of the attempts of `iterator`, each of which may have a delay of its own.
  public init(
    name: String? = nil, max: Int? = nil, wait: WaitStrategy = .immediate,
    iterator: some IteratorProtocol<RepeatProcedurePayload<Attempt>> & Sendable,
    retry handler: Handler? = nil
  ) {
    self.handler = handler
    super.init(name: name, max: max, wait: wait, iterator: iterator)
  }

  final override class var traits: ProcedureTraits { [.isGroup, .onlyPrincipalCounts] }

  final override func workDidEnter(_ phase: WorkPhase) {
    super.workDidEnter(phase)
    guard phase == .over else { return }
    let released = handler.take()
    _ = released
  }

  // MARK: The next attempt

  final override var errorsWithoutAttempt: [any Error] { [ProcedureError(.notAttempted, of: name)] }

  final override func goOn(after attempt: Attempt, _ errors: [any Error]) -> ChildRelation {
    if !errors.isEmpty { return makeAttempt(after: attempt) ? .wholeSoFar : .whole }
    if attempt.isCancelled, !attempt.failed, !isCancelled {
      setOwnErrors([])
      cancel()
    }
    return .whole
  }

  final override var principal: Procedure? { current }

  final override func payload(after attempt: Attempt, instead payload: Payload) -> Payload? {
    guard let handler else { return payload }
    let failure = RetryFailureInfo(procedure: attempt, errors: attempt.errors, count: count)
    return handler(failure, payload)
  }
}

/// A failed attempt, and its errors.
public struct RetryFailureInfo<Attempt: ProcedureProtocol>: Sendable {
  /// The failed attempt, which is about to finish.
  public let procedure: Attempt

  /// The attempt's errors.
  public let errors: [any Error]

  /// How many attempts there were, including this one.
  public let count: Int
}

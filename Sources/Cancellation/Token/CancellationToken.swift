public import Dispatch
internal import ProcedurePrimitives

/// Lets code see that it should stop.
///
/// A token is one word; copies observe the same state. It is pending until its source is cancelled
/// (*cancelled*, with a reason) or released (*not cancelled*, forever). Once completed it never
/// changes. A token keeps only the state alive, never the source.
///
/// ```swift
/// func load(_ url: URL, token: CancellationToken = .never) throws {
///   token.onCancel { connection.close() }
///   for chunk in chunks {
///     try token.checkCancellation()
///     process(chunk)
///   }
/// }
/// ```
///
/// ## Thread safety
/// Everything may be called from any thread. No lock is held while a handler runs, so handlers may
/// cancel, register and unregister.
///
/// ## Ordering
/// A thread that reads `isCancelled == true` sees everything that was written before `cancel()`.
/// Handlers of one token run in the order in which they were registered, and the handlers of all
/// parents of a token before its own. A handler that you register after the cancel is called at
/// once, even before earlier handlers of this token or of its parents.
public struct CancellationToken: Sendable {
  @usableFromInline let state: CancellationState?

  @inlinable
  init(_ state: CancellationState?) {
    self.state = state
  }

  /// A token has a source, which cancels it.
  @available(
    *, unavailable,
    message:
      "make a CancellationTokenSource, whose token it is; or write .never, which is never cancelled"
  )
  public init() { fatalError("unavailable") }

  /// Only the source of a token can cancel it.
  @available(
    *, unavailable,
    message: "only the source of a token can cancel it: keep the CancellationTokenSource"
  )
  public func cancel() { fatalError("unavailable") }

  /// The token of something that can never be cancelled.
  ///
  /// Polling it is a null check, registering on it allocates nothing: as the default of a parameter
  /// it costs nothing to callers that do not need a token.
  public static let never = CancellationToken(nil)

  /// A token that was cancelled from the beginning, with reason `.requested`.
  public static let cancelled = CancellationToken(CancellationState(cancelledBecauseOf: .requested))

  /// Whether it was cancelled. One acquire load: safe to poll in a tight loop, on any core.
  @inlinable
  public var isCancelled: Bool {
    guard let state else { return false }
    return state.isCancelled
  }

  /// Whether it has completed: cancelled, or certain never to be.
  @inlinable
  public var isCompleted: Bool {
    guard let state else { return true }
    return state.isSettled
  }

  /// Why it was cancelled; nil while pending and when not cancelled.
  ///
  /// Use it in logs and messages. `checkCancellation()` throws Swift's own `CancellationError`,
  /// which has no reason:
  ///
  /// ```swift
  /// } catch is CancellationError {
  ///   if case .deadlineExceeded = token.reason { show("that took too long") }
  /// }
  /// ```
  public var reason: CancellationReason? { state?.outcome?.reason }

  /// Throws Swift's `CancellationError` if the token was cancelled.
  ///
  /// `reason` says why it was cancelled.
  public func checkCancellation() throws(CancellationError) {
    if isCancelled { throw CancellationError() }
  }

  /// Calls `handler` once when the token is cancelled, at once if it already is.
  ///
  /// Without a queue, it is called by the thread that cancels, and has returned before `cancel()`
  /// returns there; registered after the cancel, it is called before `onCancel` returns. If you
  /// pass a queue, `queue.async` delivers it in every case. On a token that completed not cancelled
  /// it is released before this returns.
  ///
  /// - Parameters:
  ///   - queue: where to deliver, or nil for inline.
  ///   - handler: must not block when delivered inline: it runs on the stack of the canceller. If
  ///     it cancels another source, the handlers of that source run inside it. Link sources instead
  ///     of building a list of hundreds, each cancelled by a handler of the previous one.
  /// - Returns: the registration, whose `remove()` takes the handler back. You may drop it; the
  ///   handler stays.
  /// - Complexity: O(1); no allocation besides a table that handlers share.
  @discardableResult @inlinable
  public func onCancel(
    on queue: DispatchQueue? = nil, _ handler: @escaping @Sendable () -> Void
  ) -> CancellationRegistration {
    guard let state else { return .inert }
    // Created in this inlinable function, so that a caller who drops it pays no reference counting.
    guard let key = state.register(handler, on: queue) else { return .inert }
    return CancellationRegistration(state: state, key: key)
  }

  /// Calls `handler` once when the token has completed: with true if cancelled, false if not.
  ///
  /// Threads and order are the same as for `onCancel`. When the source is released, its thread
  /// calls the handlers without a queue.
  @discardableResult
  public func onComplete(
    on queue: DispatchQueue? = nil, _ handler: @escaping @Sendable (_ cancelled: Bool) -> Void
  ) -> CancellationRegistration {
    let delivery: @Sendable (Bool) -> Void
    if let queue {
      delivery = { cancelled in queue.async { handler(cancelled) } }
    } else {
      delivery = handler
    }
    guard let state else {
      delivery(false)
      return .inert
    }
    return state.registration(of: .complete(delivery))
  }

  /// Calls `target.cancel()` once when the token is cancelled, without keeping the target alive.
  ///
  /// A target that is deallocated leaves the token automatically: a million short-lived targets on
  /// one long-lived token leave its memory flat.
  @discardableResult
  public func register(
    _ target: some Cancelable, on queue: DispatchQueue? = nil
  ) -> CancellationRegistration {
    state?.registration(of: .target(WeakTarget(target, queue: queue))) ?? .inert
  }
}

extension CancellationToken: Hashable {
  /// Whether both observe the same state.
  public static func == (left: Self, right: Self) -> Bool { left.state === right.state }

  /// Hashes the identity of the state.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(state.map(ObjectIdentifier.init))
  }
}

extension CancellationToken: CustomStringConvertible {
  /// For example `CancellationToken(cancelled: deadline exceeded)`.
  public var description: String {
    switch seen {
    case .cancelled: "CancellationToken(cancelled: \(reason ?? .requested))"
    case .notCancelled: "CancellationToken(not cancelled)"
    case .pending: "CancellationToken(pending)"
    }
  }
}

extension CancellationToken {
  /// The result of one read of a token's status.
  ///
  /// Two reads may see a pending token first and a cancelled one then, so a decision uses one read
  /// (K9).
  enum Seen: Sendable {
    case pending(CancellationState)
    case cancelled(CancellationState)
    case notCancelled
  }

  /// One acquire load. Only `pending` may be out of date.
  var seen: Seen {
    guard let state else { return .notCancelled }
    switch state.status.load() {
    case CancellationState.Status.pending: return .pending(state)
    case CancellationState.Status.notCancelled: return .notCancelled
    default: return .cancelled(state)
    }
  }
}

internal import ProcedurePrimitives

/// The object that can cancel. Hand out its `token`, and keep the source.
///
/// ```swift
/// let source = CancellationTokenSource()
/// start(token: source.token)
/// source.cancel()
/// ```
///
/// When a source is released without a cancel, its token completes *not cancelled* and releases all
/// handlers. (To cancel instead, use a guard or a store.)
///
/// ## Cancellation
/// The first cancel wins; later ones return false and change nothing. The thread that wins runs the
/// handlers. A source linked to parents is cancelled with them: the whole tree is marked
/// before the first handler of any of its members runs.
///
/// ## Thread safety
/// Everything may be called from any thread and from inside handlers.
public final class CancellationTokenSource: Sendable, Cancelable {
  @usableFromInline let state: CancellationState

  /// The token to hand out. Copies of it are equal.
  @inlinable
  public var token: CancellationToken { CancellationToken(state) }

  private init(state: CancellationState) {
    self.state = state
  }

  /// Makes a pending source.
  public convenience init() {
    self.init(state: CancellationState())
  }

  /// Makes a source that is also cancelled, with its reason, when `parent` is.
  ///
  /// It behaves like `init(linkedTo:)` with several parents.
  public convenience init(linkedTo parent: borrowing CancellationToken) {
    let state = CancellationState()
    parent.state?.addChild(state)
    self.init(state: state)
  }

  /// Makes a source that is also cancelled, with their reason, when one of `parents` is.
  ///
  /// If one already is, the source is cancelled from the start; of several, the first in the list
  /// gives the reason. The link takes one place in each
  /// parent, and is removed automatically when the source has completed or is released. Cancelling
  /// the source does not affect its parents. When a parent's source is released without a cancel,
  /// this source stays in the tree: it is then linked to the parents of that parent.
  public convenience init(linkedTo parents: CancellationToken...) {
    self.init(linkedTo: parents)
  }

  /// A source is linked to tokens: pass the `token` of `parent`.
  @available(*, unavailable, message: "write init(linkedTo: parent.token)")
  public convenience init(linkedTo parent: CancellationTokenSource) { fatalError("unavailable") }

  /// Makes a source linked to any number of tokens.
  public convenience init(linkedTo parents: some Sequence<CancellationToken>) {
    self.init()
    // Links in the given order: of several cancelled parents, the first decides.
    var linked: Set<CancellationState> = []
    for parent in parents {
      guard !state.isSettled, let parent = parent.state else { continue }
      if linked.insert(parent).inserted { parent.addChild(state) }
    }
  }

  /// Makes a source that is cancelled with `.deadlineExceeded` when `timeout` has passed.
  public convenience init(timeout: Duration) {
    self.init()
    cancel(after: timeout)
  }

  deinit { endWithoutCancel() }

  /// It is not inlined: a `deinit` counts a reference at each use of an object that it is about to
  /// release.
  @inline(never)
  private func endWithoutCancel() {
    if !state.isSettled { state.endWithoutCancel() }
  }

  /// Whether it was cancelled. One acquire load.
  @inlinable
  public var isCancelled: Bool { state.isCancelled }

  /// Cancels with the reason `.requested`.
  public func cancel() {
    state.settle(.cancelled(.requested))
  }

  /// Cancels with a reason; true if this was the cancel that counts.
  ///
  /// When it returns true, all handlers registered without a queue have returned.
  @discardableResult
  public func cancel(_ reason: CancellationReason) -> Bool {
    state.settle(.cancelled(reason))
  }

  /// Use `cancel(_:)` with a reason.
  @available(*, unavailable, message: "write cancel(.failure(error))")
  public func cancel(withError error: any Error) { fatalError("unavailable") }

  /// Cancels when `duration` has passed; a second call replaces the first, and `disarmDeadline()`
  /// removes the deadline.
  ///
  /// It never cancels early. At zero or less it cancels at once, on this thread. The timer's own
  /// thread marks the token and its dependents, even if Dispatch's global queues are busy; the
  /// handlers run on a global queue. All sources share one timer. A duration of more than 146 years
  /// never ends.
  ///
  /// ```swift
  /// source.cancel(after: .seconds(30), reason: .failure(ServerIsSilent()))
  /// ```
  ///
  /// - Parameters:
  ///   - duration: counted from now.
  ///   - reason: the token's reason, if this deadline cancels it.
  ///   - clock: a test clock, in tests.
  public func cancel(
    after duration: Duration, reason: CancellationReason = .deadlineExceeded,
    clock: TimerClock = .continuous
  ) {
    state.setDeadline(
      clock.now.saturatingAdvanced(by: duration), isAhead: duration > .zero, clock: clock,
      reason: reason, holding: .strongly)
  }

  /// Cancels at `instant`; a second call replaces the first, and `disarmDeadline()` removes the
  /// deadline.
  public func cancel(
    at instant: ContinuousClock.Instant, reason: CancellationReason = .deadlineExceeded,
    clock: TimerClock = .continuous
  ) {
    state.setDeadline(instant, clock: clock, reason: reason, holding: .strongly)
  }

  /// Removes the deadline that `cancel(after:)`, `cancel(at:)` or `init(timeout:)` has set. O(1).
  ///
  /// Deadlines of the tokens that the source is linked to stay.
  ///
  /// - Returns: true if there was a deadline, which will not cancel any more; false if there was
  ///   none, or the token has ended.
  @discardableResult
  public func disarmDeadline() -> Bool { state.removeDeadline() }

  /// Settles the token as not cancelled before the source is released.
  package func complete() {
    state.settle(.notCancelled)
  }
}

extension CancellationTokenSource: CustomStringConvertible {
  /// For example `CancellationTokenSource(pending)`.
  public var description: String {
    token.description.replacingPrefix("CancellationToken", with: "CancellationTokenSource")
  }
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String, with replacement: String) -> String {
    hasPrefix(prefix) ? replacement + dropFirst(prefix.count) : self
  }
}

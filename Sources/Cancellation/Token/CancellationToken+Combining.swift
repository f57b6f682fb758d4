extension CancellationToken {
  /// A token that is cancelled as soon as any of `tokens` is; also written `a || b`.
  ///
  /// It completes *not cancelled* only when all of them have. Its reason comes from the token that
  /// is cancelled first. Tokens that have already completed decide at once and are not registered
  /// on; when a single token is left to decide, that token itself is returned and nothing is
  /// allocated. A token does not know when it was cancelled, so of several that already are, the
  /// first in the list gives the reason. Without tokens it is `never`.
  ///
  /// ```swift
  /// let token: CancellationToken = .any(of: userPressedStop, .timeout(.seconds(30)))
  /// ```
  ///
  /// The result leaves its operands automatically when it has completed or is released.
  public static func any(of tokens: CancellationToken...) -> Self {
    any(of: tokens)
  }

  /// A token that is cancelled as soon as any element of a sequence is.
  public static func any(of tokens: some Sequence<CancellationToken>) -> Self {
    var undecided: [CancellationState] = []
    var last = CancellationToken.never
    for token in tokens {
      switch token.seen {
      case .cancelled: return token
      case .notCancelled: last = token
      case .pending(let state): undecided.append(state)
      }
    }
    guard let first = undecided.first else { return last }
    return combination(of: undecided, first: first) { .any(undecided: $0) }
  }

  /// A token that is cancelled when all of `tokens` are; also written `a && b`.
  ///
  /// Use it for work that several callers share: it stops when the last of them has left. It
  /// completes *not cancelled* as soon as one of them does. Its reason comes from the token that
  /// is cancelled last; if all already are, from the last in the list. Completed tokens decide at
  /// once, as with `any(of:)`. Without tokens it is `cancelled`.
  public static func all(of tokens: CancellationToken...) -> Self {
    all(of: tokens)
  }

  /// A token that is cancelled when all elements of a sequence are.
  public static func all(of tokens: some Sequence<CancellationToken>) -> Self {
    var undecided: [CancellationState] = []
    var last = CancellationToken.cancelled
    for token in tokens {
      switch token.seen {
      case .notCancelled: return token
      case .cancelled: last = token
      case .pending(let state): undecided.append(state)
      }
    }
    guard let first = undecided.first else { return last }
    return combination(of: undecided, first: first) { .all(undecided: $0) }
  }

  /// `any(of:)` of two. At identities (`.never || t`, `t || t`) it allocates nothing.
  public static func || (left: Self, right: Self) -> Self {
    guard case .pending(let first) = left.seen else { return left.isCancelled ? left : right }
    guard left != right else { return left }
    guard case .pending(let second) = right.seen else { return right.isCancelled ? right : left }
    let state = CancellationState()
    state.combine([first, second], by: .any(undecided: 2))
    return CancellationToken(state)
  }

  /// `all(of:)` of two. At identities (`.cancelled && t`, `.never && t`, `t && t`) it allocates
  /// nothing.
  public static func && (left: Self, right: Self) -> Self {
    guard case .pending(let first) = left.seen else { return left.isCancelled ? right : left }
    guard left != right else { return left }
    guard case .pending(let second) = right.seen else { return right.isCancelled ? left : right }
    let state = CancellationState()
    state.combine([first, second], by: .all(undecided: 2))
    return CancellationToken(state)
  }

  /// A token that is cancelled when this one is and `transform`, called then, returns true.
  ///
  /// `transform` is called once, when this token is cancelled, by the thread that cancels; at once
  /// if it already is. If this token completes not cancelled, so does the result, and `transform`
  /// is released without a call. The reason is this token's. A result without handlers that is
  /// released earlier releases `transform`.
  public func map(_ transform: @escaping @Sendable () -> Bool) -> Self {
    derived { operand in transform() ? operand : nil }
  }

  /// A token that follows the token that `transform` returns when this one is cancelled.
  ///
  /// `transform` is called as in `map`. The result ends like the returned token, with its reason;
  /// it completes not cancelled if this token does. Tokens that follow only each other, or
  /// themselves, can never be cancelled, and complete not cancelled.
  ///
  /// Do not combine the result with others inside `transform`. If `result` returns
  /// `result || other`, it is cancelled with `other`, and otherwise stays pending. If it returns
  /// `result && other`, it can never be cancelled, and stays pending until `other` completes not
  /// cancelled. A result that stays pending so is never released.
  public func flatMap(_ transform: @escaping @Sendable () -> CancellationToken) -> Self {
    derived { _ in transform().state }
  }

  private func derived(by decide: @escaping CancellationDerivation.Decision) -> Self {
    switch seen {
    case .notCancelled: return .never
    case .cancelled(let operand):
      operand.waitWhileMarking()
      return CancellationToken(decide(operand))
    case .pending(let operand):
      let state = CancellationState()
      state.derive(from: operand, by: decide)
      return CancellationToken(state)
    }
  }

  private static func combination(
    of operands: [CancellationState], first: CancellationState,
    by rule: (_ undecided: Int) -> CancellationStateMachine.Rule
  ) -> Self {
    var seen: Set<CancellationState> = []
    let distinct = operands.filter { seen.insert($0).inserted }
    guard distinct.count > 1 else { return CancellationToken(first) }
    let state = CancellationState()
    state.combine(distinct, by: rule(distinct.count))
    return CancellationToken(state)
  }
}

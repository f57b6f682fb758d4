internal import ProcedurePrimitives

/// Cancels its token when the last member has left. Use it for work that several viewers share, who
/// come and go.
///
/// ```swift
/// let viewers = SharedCancellation()
/// func show(_ cell: Cell) {
///   viewers.join(until: cell.token)   // before the work begins, or while it goes on
/// }
/// start(token: viewers.token)
/// ```
///
/// It is an `a && b` that grows. Each member joins with a token of its own, and leaves when that
/// token is cancelled. The last member that leaves cancels the shared token, with the reason of its
/// own token.
///
/// | the shared token | `join(until:)` | a member's token is cancelled | one ends *not cancelled* |
/// |---|---|---|---|
/// | pending, without a member yet | true: the first member | | |
/// | pending, with members | true: one more | one less; the last cancels it | does likewise |
/// | cancelled | false | | |
/// | completed *not cancelled* | true, and nothing is kept | | |
///
/// A member whose token completes *not cancelled* will never leave, so the shared token completes
/// *not cancelled*, too.
///
/// A token that was cancelled before joins, and leaves at once. A token that can never be
/// cancelled, such as `.never`, never leaves.
///
/// When the object is released, the shared token completes *not cancelled*, like the token of a
/// source. Keep the object as long as the work may be cancelled.
///
/// ## Thread safety
/// Everything may be called from any thread and from handlers. The thread that cancels the last
/// member's token calls the handlers of the shared token, before its `cancel()` returns.
///
/// ## Memory
/// O(members). Members that have left take no memory. When the shared token has ended, its handlers
/// leave the tokens of the members, so a token that lives long may join any number of times.
public final class SharedCancellation: Sendable {
  private let members = Members()

  /// Makes one without members.
  public init() {}

  deinit { members.complete() }

  /// The shared token: cancelled when all members have left.
  public var token: CancellationToken { members.source.token }

  /// How many members there are. Zero once the shared token has ended.
  public var count: Int { members.count }

  /// Adds a member that leaves when `token` is cancelled. O(1).
  ///
  /// - Parameter token: cancelled when this member does not want the work any more.
  /// - Returns: false if the last member had left before: then nothing changes. Begin the work
  ///   anew, with another `SharedCancellation`.
  @discardableResult
  public func join(until token: CancellationToken) -> Bool {
    members.join(until: token)
  }

  /// Completes the shared token *not cancelled*, when the work is over.
  package func complete() { members.complete() }
}

/// The members, each with the handler on its token.
///
/// The handlers keep this object, and not the public one. They are unregistered when the shared
/// token has ended.
private final class Members: Sendable {
  private struct Member: Sendable {
    /// Nil until the handler has been registered.
    var registration: CancellationRegistration?
  }

  private enum State: Sendable {
    case open
    case ended(isCancelled: Bool)
  }

  private struct Content: Sendable {
    var state = State.open
    var members = Slab<Member>()
    var order = SlabList()

    /// - Returns: the former members.
    mutating func end(isCancelled: Bool) -> [Member] {
      state = .ended(isCancelled: isCancelled)
      defer { (members, order) = (Slab(), SlabList()) }
      return members.elements(of: order)
    }
  }

  let source = CancellationTokenSource()
  private let content = Locked(Content())

  var count: Int { content.withLock { $0.members.count } }

  func join(until token: CancellationToken) -> Bool {
    enum Answer: Sendable {
      case over(isCancelled: Bool)
      case member(SlabKey)
    }
    // 1. Add the member before its handler, so that from now on no other member counts as the last.
    let answer: Answer = content.withLock { content in
      switch content.state {
      case .ended(let isCancelled): .over(isCancelled: isCancelled)
      case .open: .member(content.members.append(Member(), to: &content.order))
      }
    }
    guard case .member(let key) = answer else {
      if case .over(isCancelled: true) = answer { return false }
      return true
    }
    // 2. Register the handler, which is called at once if the token has ended.
    let registration = token.onComplete { [self] isCancelled in
      tokenEnded(key, isCancelled ? token.reason ?? .requested : nil)
    }
    // 3. Keep the registration. If the shared token has ended in between, no other thread
    //    unregisters the handler.
    let isKept = content.withLock { content in
      guard content.members.contains(key) else { return false }
      content.members[key.place].registration = registration
      return true
    }
    if !isKept { registration.remove() }
    return true
  }

  /// - Parameter reason: nil if the token will never be cancelled.
  private func tokenEnded(_ key: SlabKey, _ reason: CancellationReason?) {
    guard let reason else { return complete() }
    let isLast = content.withLock { content in
      guard content.members.remove(key, from: &content.order) != nil, content.order.isEmpty else {
        return false
      }
      _ = content.end(isCancelled: true)
      return true
    }
    if isLast { source.cancel(reason) }
  }

  func complete() {
    let left: [Member]? = content.withLock { content in
      guard case .open = content.state else { return nil }
      return content.end(isCancelled: false)
    }
    guard let left else { return }
    for member in left { member.registration?.remove() }
    source.complete()
  }
}

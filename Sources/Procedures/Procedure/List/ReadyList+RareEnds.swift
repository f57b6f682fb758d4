internal import ProcedurePrimitives

/// The end of a member that is more than that: the last one, or one that excluded others.
extension ReadyList {
  /// What follows, once the lock is released, from the end of a member that was the last one and waited
  /// for, or excluded others. What it holds is released without the lock.
  final class RareEnd: Sendable {
    let emptyWaiters: [FinishWaiter]
    let hasClosed: Bool
    let request: ExclusionRequest?
    /// The list, which owned itself until now.
    let itself: ReadyList?

    /// Of a group, the usual case.
    static let closed = RareEnd([], hasClosed: true, request: nil, itself: nil)

    init(
      _ emptyWaiters: [FinishWaiter], hasClosed: Bool, request: ExclusionRequest?,
      itself: ReadyList?
    ) {
      self.emptyWaiters = emptyWaiters
      self.hasClosed = hasClosed
      self.request = request
      self.itself = itself
    }
  }

  @inline(never)
  func retireRarely(
    _ request: ExclusionRequest?, _ closes: Bool, _ storage: inout Storage
  ) -> (RareEnd, [ExclusionRequest]?) {
    let offers = request.map { request in
      accept(ExclusionTable.shared.withLock { $0.leave(request) }, &storage)
    }
    let waiters = storage.machine.count == 0 ? storage.emptyWaiters?.takeAll() ?? [] : []
    let itself = storage.machine.count == 0 ? storage.itself.take() : nil
    let released = closes ? storage.takeExclusionAround(with: request) : request
    if closes, waiters.isEmpty, released == nil { return (.closed, offers) }
    return (RareEnd(waiters, hasClosed: closes, request: released, itself: itself), offers)
  }
}

internal import ProcedurePrimitives

/// The end of a member that is more than that: the last one, or one that excluded others.
extension ReadyList {
  /// What follows, once the lock is released, from the end of a member that was the last one and waited
  /// for, or excluded others.
  final class RareEnd: Sendable {
    let emptyWaiters: EmptyWaiters?
    /// Released without the lock.
    let request: ExclusionRequest?

    init(_ emptyWaiters: EmptyWaiters?, request: ExclusionRequest?) {
      self.emptyWaiters = emptyWaiters
      self.request = request
    }
  }

  @inline(never)
  func retireRarely(
    _ request: ExclusionRequest?, _ closes: Bool, _ storage: inout Storage
  ) -> (RareEnd?, [ExclusionRequest]?) {
    let offers = request.map { request in
      accept(ExclusionTable.shared.withLock { $0.leave(request) }, &storage)
    }
    let waiters = storage.machine.count == 0 ? storage.emptyWaiters.takeAll() : nil
    let released = closes ? storage.takeExclusionAround(with: request) : request
    let isNeeded = waiters != nil || released != nil
    return (isNeeded ? RareEnd(waiters, request: released) : nil, offers)
  }
}

internal import ProcedurePrimitives

/// The end of a member that is more than that: the last one, or one that excluded others.
extension ReadyList {
  /// What follows, once the lock is released, from the end of a member that was the last one and waited
  /// for, or excluded others.
  final class RareEnd: Sendable {
    let emptyWaiters: EmptyWaiters?
    let hasClosed: Bool
    /// Released without the lock.
    let request: ExclusionRequest?

    init(_ emptyWaiters: EmptyWaiters?, hasClosed: Bool, request: ExclusionRequest?) {
      self.emptyWaiters = emptyWaiters
      self.hasClosed = hasClosed
      self.request = request
    }
  }

  @inline(never)
  func retireRarely(
    _ request: ExclusionRequest?, _ closes: Bool, _ storage: inout Storage
  ) -> (RareEnd, [ExclusionRequest]?) {
    let isEmpty = storage.machine.count == 0
    let offers = request.map { request in
      accept(ExclusionTable.shared.withLock { $0.leave(request) }, &storage)
    }
    let end = RareEnd(
      isEmpty ? storage.emptyWaiters.takeAll() : nil, hasClosed: closes,
      request: closes ? storage.takeExclusionAround(with: request) : request)
    return (end, offers)
  }
}

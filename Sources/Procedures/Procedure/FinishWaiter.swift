internal import Dispatch
internal import ProcedurePrimitives

/// What waits for a procedure to finish, and is notified when it has left its list.
enum FinishWaiter: Sendable {
  case task(CheckedContinuation<Void, Never>)
  case thread(DispatchSemaphore)
  case barrier(QueueBarriers.Ticket)

  func resume() {
    switch self {
    case .task(let continuation): continuation.resume()
    case .thread(let semaphore): semaphore.signal()
    case .barrier(let ticket): ticket.finished()
    }
  }
}

/// Those that wait for one procedure, in order.
final class FinishWaiters: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) private var waiters = Slab<FinishWaiter>()
  @safe @exclusivity(unchecked) private var order = SlabList()

  /// - Returns: what takes it out again.
  func append(_ waiter: FinishWaiter) -> SlabKey { waiters.append(waiter, to: &order) }

  func remove(_ key: SlabKey) -> FinishWaiter? { waiters.remove(key, from: &order) }

  var isEmpty: Bool { order.isEmpty }
  var all: [FinishWaiter] { waiters.elements(of: order) }
}

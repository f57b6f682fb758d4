internal import Dispatch
internal import ProcedurePrimitives

/// Waits for a procedure to finish, or for a list to have no members.
enum FinishWaiter: Sendable {
  case task(CheckedContinuation<Bool, Never>)
  case thread(DispatchSemaphore)
  case barrier(QueueBarriers.Ticket)

  /// - Parameter isOver: false for a task that was cancelled before.
  func resume(isOver: Bool = true) {
    switch self {
    case .task(let continuation): continuation.resume(returning: isOver)
    case .thread(let semaphore): semaphore.signal()
    case .barrier(let ticket): ticket.finished()
    }
  }

  /// Returns when the task that calls is resumed, or cancelled.
  ///
  /// - Parameters:
  ///   - enter: adds the task to the waiters, unless it returns the answer.
  ///   - leave: takes it out of the waiters; nil if it is not among them.
  /// - Returns: false if the task was cancelled before.
  static func wait(
    entering enter: (WaitingTask) -> Bool?,
    leaving leave: @Sendable (WaitingTask.Place) -> FinishWaiter?
  ) async -> Bool {
    let place = WaitingTask.Place()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let task = WaitingTask(continuation: continuation, place: place)
        if let answer = enter(task) { continuation.resume(returning: answer) }
      }
    } onCancel: {
      leave(place)?.resume(isOver: false)
    }
  }
}

/// A task that is to wait.
struct WaitingTask {
  /// Its place among the waiters. Guarded by their lock.
  final class Place: @unchecked Sendable {
    @safe @exclusivity(unchecked) fileprivate var key: SlabKey?
  }

  fileprivate let continuation: CheckedContinuation<Bool, Never>
  let place: Place
}

/// Those that wait for the same, in order: joining and leaving is O(1).
final class FinishWaiters: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) private var waiters = Slab<FinishWaiter>()
  @safe @exclusivity(unchecked) private var order = SlabList()

  func append(_ waiter: FinishWaiter) { _ = waiters.append(waiter, to: &order) }

  func append(_ task: WaitingTask) {
    task.place.key = waiters.append(.task(task.continuation), to: &order)
  }

  /// Takes out a task that waits no more; nil if it is not here.
  func remove(at place: WaitingTask.Place) -> FinishWaiter? {
    place.key.flatMap { waiters.remove($0, from: &order) }
  }

  var isEmpty: Bool { order.isEmpty }
  var count: Int { waiters.count }
  var all: [FinishWaiter] { waiters.elements(of: order) }

  /// Takes the first out, to be resumed without the lock.
  func takeFirst() -> FinishWaiter? { waiters.popFirst(from: &order) }

  /// Takes all out, to be resumed without the lock. A place that one of them had is never another's.
  func takeAll() -> [FinishWaiter] {
    var all: [FinishWaiter] = []
    all.reserveCapacity(count)
    while let waiter = takeFirst() { all.append(waiter) }
    return all
  }
}

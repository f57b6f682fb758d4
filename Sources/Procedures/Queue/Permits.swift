internal import Dispatch
internal import ProcedurePrimitives

/// Places for `limit` unfinished procedures, and the tasks and threads that wait for one, in order.
///
/// A procedure gives its place back when it has finished: see `PermitHolder`.
///
/// | event     | places are free | all are taken                        | the queue is closed |
/// |-----------|-----------------|--------------------------------------|---------------------|
/// | take      | takes one       | waits, or is refused                 | takes one           |
/// | give back | frees one       | hands it to the first waiter, if any | frees one           |
/// | close     | –               | hands one to each waiter             | –                   |
///
/// A closed queue has room for all, beyond the limit: it refuses them itself, and each gives its
/// place back when it has finished.
///
/// Invariant: while one waits, all places are taken, and the queue is open.
final class Permits: Sendable {
  private struct State: Sendable {
    let limit: Int
    var taken = 0
    let waiting = FinishWaiters()
  }

  private let state: Locked<State>
  private let closing: CancellationToken

  /// - Parameter closing: a token that is cancelled when the queue is closed.
  init(for limit: Int, until closing: CancellationToken) {
    state = Locked(State(limit: limit))
    self.closing = closing
  }

  var taken: Int { state.withLock { $0.taken } }

  /// How many tasks and threads wait.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Whether the queue refuses what is added.
  var isClosed: Bool { closing.isCancelled }

  func takeIfFree() -> Bool { state.withLock { take(&$0) } }

  /// Takes a place if there is one.
  ///
  /// Called under the lock: a later close finds the caller among the waiters.
  private func take(_ state: inout State) -> Bool {
    guard state.taken < state.limit || isClosed else { return false }
    state.taken += 1
    return true
  }

  /// The queue was closed: hands a place to each waiter.
  func close() {
    let waiting = state.withLock { state in
      state.taken += state.waiting.count
      return state.waiting.takeAll()
    }
    FinishWaiter.resume(waiting)
  }

  /// Takes a place, and waits for it if none is free.
  ///
  /// - Parameters:
  ///   - list: the list of the queue that has the procedures.
  ///   - name: the name of the call, for diagnostics.
  /// - Returns: false, without a place, if the calling task is cancelled.
  func take(on list: ProcedureList, in name: String) async -> Bool {
    await FinishWaiter.wait(in: name, for: .room(self, list)) { task in
      state.withLock { state in
        // Check this under the lock: a later cancel finds the task among the waiters. A closed
        // queue refuses the procedure itself.
        if Task.isCancelled, !isClosed { return false }
        if take(&state) { return true }
        state.waiting.append(task)
        return nil
      }
    } leaving: { [self] place in
      state.withLock { $0.waiting.remove(at: place) }
    }
  }

  /// Takes a place, or waits in line.
  ///
  /// - Returns: nil if it took a place; otherwise the semaphore that is signalled when the waiter
  ///   is handed one, and its position.
  func takeOrStandInLine() -> (DispatchSemaphore, FinishWaiter.Place)? {
    state.withLock { state in
      if take(&state) { return nil }
      let (semaphore, place) = (DispatchSemaphore(value: 0), FinishWaiter.Place())
      state.waiting.append(.thread(semaphore, place))
      return (semaphore, place)
    }
  }

  /// Removes the waiter of a thread that gives up.
  ///
  /// - Returns: false if the thread was handed a place meanwhile.
  func leave(at place: FinishWaiter.Place) -> Bool {
    state.withLock { $0.waiting.remove(at: place) != nil }
  }

  /// Frees a place, or hands it to the first waiter.
  func giveBack() {
    // A place that is handed over never counts as free: no later caller can take it first.
    let next = state.withLock { state in
      let next = state.waiting.takeFirst()
      if next == nil { state.taken -= 1 }
      return next
    }
    next?.resume()
  }
}

struct PermitHolder: AttachedValue {
  var permits: Permits?

  /// Before it leaves its list: who waits until the queue is empty finds the place free.
  func procedureDidLeave() { permits?.giveBack() }
}

extension Permits: ProcedurePlaces {
  func isKept(by procedure: Procedure) -> Bool {
    procedure.peek { $0.attachments.existing(PermitHolder.self)?.value.permits === self }
  }
}

internal import Dispatch
internal import ProcedurePrimitives

/// Places for `limit` unfinished procedures, and the tasks and threads that wait for one, in order.
///
/// A procedure gives its place back when it has finished: see `PermitHolder`.
///
/// | event     | places are free                       | all are taken                            |
/// |-----------|---------------------------------------|------------------------------------------|
/// | take      | takes one                             | waits, or is refused                     |
/// | give back | frees one                             | hands it to the first waiter, if any     |
///
/// Invariant: while one waits, all places are taken.
final class Permits: Sendable {
  private struct State: Sendable {
    let limit: Int
    var taken = 0
    let waiting = FinishWaiters()

    mutating func take() -> Bool {
      guard taken < limit else { return false }
      taken += 1
      return true
    }
  }

  private let state: Locked<State>

  init(for limit: Int) {
    state = Locked(State(limit: limit))
  }

  var taken: Int { state.withLock { $0.taken } }

  func takeIfFree() -> Bool { state.withLock { $0.take() } }

  /// Takes a place, and waits for it if none is free.
  ///
  /// - Parameters:
  ///   - list: the list of the queue that has the procedures.
  ///   - name: the name of the call, for diagnostics.
  /// - Returns: false, without a place, if the calling task is cancelled.
  func take(on list: ProcedureList, in name: String) async -> Bool {
    await FinishWaiter.wait(in: name, for: .room(self, list)) { task in
      state.withLock { state in
        // Check this under the lock: a later cancel finds the task among the waiters.
        if Task.isCancelled { return false }
        if state.take() { return true }
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
      if state.take() { return nil }
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

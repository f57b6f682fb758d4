internal import Dispatch
internal import ProcedurePrimitives

/// A door that is opened once: tasks await it, threads block on it.
package final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var tasks: [CheckedContinuation<Void, Never>] = []
    var threads: [DispatchSemaphore] = []
  }

  private let state = Locked(State())

  package init() {}

  package var isOpen: Bool { state.withLock { $0.isOpen } }

  package func open() {
    let (tasks, threads) = state.withLock { state in
      state.isOpen = true
      defer { (state.tasks, state.threads) = ([], []) }
      return (state.tasks, state.threads)
    }
    for task in tasks { task.resume() }
    for thread in threads { thread.signal() }
  }

  /// Suspends the task until the gate is open.
  package func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.tasks.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Blocks the thread until the gate is open: for procedures that block.
  package func block() {
    let semaphore = DispatchSemaphore(value: 0)
    let isOpen = state.withLock { state in
      if !state.isOpen { state.threads.append(semaphore) }
      return state.isOpen
    }
    if !isOpen { semaphore.wait() }
  }
}

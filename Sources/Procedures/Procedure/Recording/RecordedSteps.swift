internal import ProcedurePrimitives

/// How an asynchronous closure spent its time, while its procedure is recorded. A step is the work
/// of its task, or of a child task, between two suspensions.
///
/// The time is cut where a step is enqueued, begins and ends. A part with a running step is busy;
/// otherwise, a part with an enqueued step is scheduled; otherwise it is idle. So the parts add up,
/// for any number of simultaneous steps.
package final class RecordedSteps: Sendable {
  package struct Times: Sendable {
    package fileprivate(set) var busy: Int64 = 0
    package fileprivate(set) var scheduled: Int64 = 0
    package fileprivate(set) var idle: Int64 = 0
  }

  private struct State: Sendable {
    var times = Times()
    /// The end of these times.
    var now: Int64
    var enqueued = 0
    var running = 0
    /// Whether any step has run: the closure may run elsewhere, on the main actor.
    var haveRun = false
    /// Whether the closure has ended: no more time is counted.
    var isOver = false

    mutating func advance(to time: Int64) {
      guard !isOver else { return }
      // Two threads may have read the clock in one order, and come here in the other.
      let passed = max(time - now, 0)
      now += passed
      if running > 0 {
        times.busy += passed
      } else if enqueued > 0 {
        times.scheduled += passed
      } else {
        times.idle += passed
      }
    }
  }

  private let clock: RecordClock
  private let state: Locked<State>

  init(by clock: RecordClock) {
    self.clock = clock
    state = Locked(State(now: clock.now))
  }

  func noteEnqueued() {
    note { $0.enqueued += 1 }
  }

  func noteBegun() {
    note { state in
      // The step was perhaps enqueued before this object existed.
      state.enqueued = max(state.enqueued - 1, 0)
      state.running += 1
      state.haveRun = true
    }
  }

  func noteEnded() {
    note { $0.running -= 1 }
  }

  /// The closure has ended in its last step, which may still be running.
  func noteOver() {
    let time = clock.now
    state.withLock { state in
      if state.running > 0 { state.advance(to: time) }
      state.isOver = true
    }
  }

  private func note(_ change: (inout State) -> Void) {
    let time = clock.now
    state.withLock { state in
      state.advance(to: time)
      change(&state)
    }
  }

  /// The times until that instant, or until the last step ended, if the closure has ended. Nil if
  /// no step has run.
  package func times(until end: Int64) -> Times? {
    var copy = state.withLock { $0 }
    guard copy.haveRun else { return nil }
    copy.advance(to: end)
    return copy.times
  }
}

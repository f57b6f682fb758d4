internal import ProcedurePrimitives

/// Notes what happened, in order, from any thread.
package final class Recorder<Event: Sendable>: Sendable {
  private let state = Locked<[Event]>([])

  package init() {}

  package var events: [Event] { state.withLock { $0 } }

  package func note(_ event: Event) { state.withLock { $0.append(event) } }
}

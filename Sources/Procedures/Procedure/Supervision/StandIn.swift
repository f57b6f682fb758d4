internal import ProcedurePrimitives

/// A test double for an external resource, such as the network, for the procedures of a queue.
///
/// A queue has it for the same reason as its clock: a test makes the queue, and decides for all
/// procedures on it. So no procedure, and no code that makes one, has a parameter for tests. The
/// queue keeps it.
package protocol StandIn: AnyObject, Sendable {}

extension Procedure {
  /// The stand-in of its queue that is a `Kind`; nil if the real resource is used. For `execute()`.
  package final func standIn<Kind>() -> Kind? {
    surroundings.supervisor.standIns.lazy.compactMap { $0 as? Kind }.first
  }

  /// Submits a closure that runs soon, once, where the procedures of its queue run; never on the
  /// caller's stack.
  package final var submitterToQueue: @Sendable (@escaping @Sendable () -> Void) -> Void {
    let scheduler = surroundings.scheduler
    return { work in scheduler.submit(quality: nil, work) }
  }

  private var surroundings: SchedulingContext { peek { $0.list }?.context ?? .detached }
}

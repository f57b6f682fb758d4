internal import ProcedurePrimitives

/// What stands for a part of the world outside of the program, as the network, for the procedures of a queue.
///
/// A queue has it beside its clock, and for the same reason: a test makes the queue, and decides for all that runs
/// there. So no procedure, and no code that makes one, has a parameter for tests. The queue keeps it.
package protocol StandIn: AnyObject, Sendable {}

extension Procedure {
  /// The stand-in of its queue that is a `Kind`; nil if what is outside is asked. For `execute()`.
  package final func standIn<Kind>() -> Kind? {
    surroundings.supervisor.standIns.lazy.compactMap { $0 as? Kind }.first
  }

  /// Runs what it is given soon, once, where the procedures of its queue run; never on the caller's stack.
  package final var submitterToQueue: @Sendable (@escaping @Sendable () -> Void) -> Void {
    let scheduler = surroundings.scheduler
    return { work in scheduler.submit(quality: nil, work) }
  }

  private var surroundings: SchedulingContext { peek { $0.list }?.context ?? .detached }
}

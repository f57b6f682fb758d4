internal import ProcedurePrimitives

/// Runs a closure when a procedure has finished and its DidFinish observers have returned.
///
/// A DidFinish observer alone is too early, since other observers come after it. So the observer
/// adds a procedure that depends on the finished one. It is made only then, so that nothing keeps a
/// procedure that never runs.
struct SuccessorObserver: ProcedureObserver {
  let body: @Sendable (Procedure) -> Void

  init(_ body: @escaping @Sendable (_ finished: Procedure) -> Void) { self.body = body }

  var events: ProcedureEvents { .didFinish }

  func did(finish procedure: Procedure, withErrors errors: [any Error]) {
    let successor = Successor(body, procedure)
    successor.add(dependency: procedure)
    OperationQueues.procedures.add(successor)
  }
}

private final class Successor: Procedure, @unchecked Sendable {
  private var work: (body: @Sendable (Procedure) -> Void, predecessor: Procedure)?

  init(_ body: @escaping @Sendable (Procedure) -> Void, _ predecessor: Procedure) {
    work = (body, predecessor)
  }

  override func execute() {
    let work = work.take()
    if let work { work.body(work.predecessor) }
    finish()
  }
}

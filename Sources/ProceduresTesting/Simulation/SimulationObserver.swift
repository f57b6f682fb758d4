internal import Procedures

/// Records the events of one procedure of a simulation, and lets other steps run in between.
///
/// The simulation decides when it is called: at once, or when the turn that was put aside goes on.
final class SimulationObserver: ProcedureObserver, ObserverStage {
  private let simulation: ProcedureSimulation
  private let name: String

  init(of name: String, in simulation: ProcedureSimulation) {
    self.name = name
    self.simulation = simulation
  }

  /// It leaves out the add events, which would change how a group adds, and attachment, which takes
  /// a turn.
  var events: ProcedureEvents {
    [.willExecute, .didExecute, .didCancel, .willFinish, .didFinish]
  }

  func putsAside() -> Bool { simulation.putsAside(name) }

  func perform(_ work: @escaping @Sendable () -> Void) { simulation.world.perform(work) }

  func will(execute procedure: Procedure, pendingExecute: PendingEvent) {
    simulation.happened(.willExecute, to: name)
  }

  func did(execute procedure: Procedure) {
    simulation.happened(.didExecute, to: name)
  }

  func did(cancel procedure: Procedure, withErrors errors: [any Error]) {
    simulation.happened(.didCancel(errors), to: name)
  }

  func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent
  ) {
    simulation.happened(.willFinish, to: name)
  }

  func did(finish procedure: Procedure, withErrors errors: [any Error]) {
    simulation.finished(procedure, name)
  }
}

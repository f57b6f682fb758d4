internal import Dispatch
internal import ProcedurePrimitives

/// Reports runs that do not return: a run without progress for a while, and a run that stops the
/// program.
///
/// No error can report them: the thread that would throw it is blocked, or has ended.
package final class SimulationWatch: Sendable {
  package static let shared = SimulationWatch()

  private struct Watched: Sendable {
    weak var simulation: ProcedureSimulation?
    let thread: ThreadMark
    var steps: Int
    /// An instant at which it had these steps.
    var since: ContinuousClock.Instant
    var isReported = false
  }

  private struct State: Sendable {
    /// The watched runs. Runs of one thread are nested.
    var watched: [Watched] = []
    var isLooking = false
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "procedures.simulation.watch")
  /// The longest time that a step may last.
  package static let patience = Duration.seconds(10)

  /// Watches the simulation, which the calling thread runs in `body`.
  func watching<Result>(_ simulation: ProcedureSimulation, _ body: () throws -> Result) rethrows
    -> Result
  {
    begin(simulation)
    defer { end(simulation) }
    return try body()
  }

  private func begin(_ simulation: ProcedureSimulation) {
    let watched = Watched(
      simulation: simulation, thread: .current, steps: simulation.steps, since: .now)
    state.withLock { state in
      state.watched.append(watched)
      if state.watched.count == 1 { TrapNote.install() }
      if !state.isLooking {
        state.isLooking = true
        lookLater()
      }
    }
  }

  /// Checks every second, as long as there is a run.
  private func lookLater() {
    queue.asyncAfter(deadline: .now() + .seconds(1)) { [self] in
      look(at: .now) { StandardError.write($0) }
      state.withLock { state in
        state.isLooking = !state.watched.isEmpty
        if state.isLooking { lookLater() }
      }
    }
  }

  private func end(_ simulation: ProcedureSimulation) {
    state.withLock { state in
      state.watched.removeAll { $0.simulation === simulation && $0.thread == .current }
      if state.watched.isEmpty { TrapNote.uninstall() }
    }
  }

  /// Reports each run, once, that has made no step for longer than `patience`.
  package func look(at now: ContinuousClock.Instant, _ report: (String) -> Void) {
    let watched = state.withLock { $0.watched }
    for entry in watched {
      guard let simulation = entry.simulation else { continue }
      let steps = simulation.steps
      let isStuck = steps == entry.steps && now - entry.since > Self.patience
      state.withLock { state in
        guard let place = state.watched.firstIndex(where: { $0.simulation === simulation }) else {
          return
        }
        if steps != entry.steps {
          (state.watched[place].steps, state.watched[place].since) = (steps, now)
        }
        if isStuck { state.watched[place].isReported = true }
      }
      if isStuck, !entry.isReported {
        report(
          """
          A simulation has not come further for \(Self.patience.components.seconds) seconds: what it runs blocks its \
          thread, or goes round without end.
          \(simulation.place)

          """)
      }
    }
  }

  /// The simulation that the calling thread runs.
  var current: ProcedureSimulation? {
    state.withLock { state in
      state.watched.last { $0.thread == .current }?.simulation
    }
  }
}

extension ProcedureSimulation {
  fileprivate var steps: Int { record.withLock { $0.steps } }

  /// How to repeat the run, and its events so far.
  var place: String {
    let log = record.withLock { $0.log }
    return SimulationError.instruction(seed: seed, draws: draws) + "\n" + log.shortText(because: "")
  }
}

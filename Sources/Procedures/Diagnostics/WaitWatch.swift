internal import ProcedurePrimitives

/// Looks for procedures that wait for each other, when a queue has come to rest.
///
/// A list that has members waiting and nothing for a worker to do says so; that is all it costs while
/// there is progress. When nothing was said for a while, the waits are looked through once; on a
/// queue that never comes to rest, after a hundred such whiles. A cycle is reported, and its
/// members are cancelled; but while something else still executes, which might undo a wait, only if
/// they are found again a second later.
final class WaitWatch: Sendable {
  private struct SearchState: Sendable {
    /// How many procedures the last look went through.
    var size = 0
    var timesPutOff = 0
    /// Cycles that were found while something else executed. They are looked at again later.
    var suspects: [WaitCycle] = []
  }

  private static let mostTimesPutOff = 100
  private static let patience = Duration.seconds(1)

  private let scheduler: any Scheduler
  /// Which lists tell, and when.
  let note = StuckNote(isUsed: true)
  private let state = Locked(SearchState())

  init(scheduler: any Scheduler) {
    self.scheduler = scheduler
  }

  /// Members of `list` wait, and no worker can help them. Called with no lock held.
  ///
  /// The list of the queue is kept until the look is over. A weak reference to it would make every
  /// count of its references slow.
  func noteStuck(in list: ProcedureList) {
    if let root = list.listOfQueue, note.note() { schedule(from: root) }
  }

  private func schedule(from root: ProcedureList) {
    // Longer after a look at much, so that looking never costs more than some hundredth of the time.
    let quiet = Duration.milliseconds(10) + .microseconds(10) * state.withLock { $0.size }
    scheduler.submitWhenQuiet(after: quiet) { [self] in look(from: root) }
  }

  private func look(from root: ProcedureList) {
    let isPutOff = state.withLock { state in
      guard state.timesPutOff < Self.mostTimesPutOff, note.putOff() else {
        state.timesPutOff = 0
        return false
      }
      state.timesPutOff += 1
      return true
    }
    if !isPutOff { lookThrough(root) }
    if isPutOff || note.end() { schedule(from: root) }
  }

  /// Ends cycles: all of them if nothing else executes, otherwise the suspects of the time before.
  private func lookThrough(_ root: ProcedureList, after suspects: [WaitCycle] = []) {
    let graph = WaitGraph(from: root.procedures)
    state.withLock { $0.size = graph.count }
    if graph.lacksSome { root.context.supervisor.noteWait(in: root) }
    // The waits were read one after another. A cycle that is there twice was there in between.
    let found = graph.cycles
    let cycles = found.isEmpty ? [] : WaitGraph(from: root.procedures).cycles.filter(found.contains)
    let certain = graph.isBusy ? cycles.filter(suspects.contains) : cycles
    for cycle in certain { cycle.end(reportingTo: root.context.supervisor) }
    // A second cycle may have the procedures that these waited for.
    if !certain.isEmpty { noteStuck(in: root) }
    suspect(cycles.filter { !certain.contains($0) }, in: root)
  }

  /// Looks at these again in a while.
  private func suspect(_ cycles: [WaitCycle], in root: ProcedureList) {
    guard !cycles.isEmpty else { return }
    let isScheduled = state.withLock { state in
      defer { state.suspects += cycles.filter { !state.suspects.contains($0) } }
      return !state.suspects.isEmpty
    }
    guard !isScheduled else { return }
    scheduler.submitWhenQuiet(after: Self.patience) { [self] in
      let suspects = state.withLock { state in
        defer { state.suspects = [] }
        return state.suspects
      }
      lookThrough(root, after: suspects)
    }
  }
}

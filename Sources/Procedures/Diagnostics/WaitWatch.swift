internal import ProcedurePrimitives

/// Looks for procedures that wait for each other, when a queue has come to rest.
///
/// A list that has members waiting and nothing for a worker to do says so; that is all it costs while
/// there is progress. When nothing was said for a while, the waits are read once; on a
/// queue that never comes to rest, after a hundred such whiles. A cycle that is proved is reported, and its
/// members are cancelled.
final class WaitWatch: Sendable {
  private struct SearchState: Sendable {
    /// The size of the graph of the last look.
    var size = 0
    var timesPutOff = 0
  }

  private static let mostTimesPutOff = 100

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
    if let root = list.listOfQueue, note.note() {
      scheduler.lookPace.begin(state.withLock { $0.size })
      schedule(from: root)
    }
  }

  private func schedule(from root: ProcedureList) {
    scheduler.submitWhenQuiet(after: scheduler.lookPace.rest) { [self] in look(from: root) }
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
    if isPutOff || note.end() {
      schedule(from: root)
    } else {
      scheduler.lookPace.end(state.withLock { $0.size })
    }
  }

  private func lookThrough(_ root: ProcedureList) {
    let graph = WaitGraph(from: root.proceduresForLook)
    let before = state.withLock { exchange(&$0.size, with: graph.size) }
    scheduler.lookPace.change(from: before, to: graph.size)
    if graph.lacksSome { root.context.supervisor.noteWait(in: root) }
    let (cycles, hasOthers) = graph.prove()
    for cycle in cycles { cycle.end(reportingTo: root.context.supervisor) }
    // Another cycle may have the procedures that these waited for, or may be proved later.
    if !cycles.isEmpty || hasOthers { noteStuck(in: root) }
  }
}

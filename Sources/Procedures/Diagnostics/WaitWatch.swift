internal import ProcedurePrimitives

/// Looks for procedures that wait for each other, once a queue makes no progress.
///
/// A list notes when members wait and no worker has anything to do; during progress there is no
/// other cost. When no note came for a pause, a look reads the waits once; on a queue that is never
/// quiet, it does so after a hundred pauses. A proved cycle is reported, and its members are
/// cancelled.
final class WaitWatch: Sendable {
  private struct SearchState: Sendable {
    /// The size of the last look's graph.
    var size = 0
    var timesPutOff = 0
  }

  private static let mostTimesPutOff = 100

  private let scheduler: any Scheduler
  let note = StuckNote(isUsed: true)
  private let state = Locked(SearchState())

  init(scheduler: any Scheduler) {
    self.scheduler = scheduler
  }

  /// Called, with no lock held, when members of `list` wait and no worker has anything to do.
  ///
  /// The queue's list is retained until the look is over. A weak reference would move its reference
  /// count into a side table, and make each retain and release slower.
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
    for cycle in cycles { cycle.end() }
    // Look again: a further cycle may contain procedures for which these waited, or may be proved
    // later.
    if !cycles.isEmpty || hasOthers { noteStuck(in: root) }
  }
}

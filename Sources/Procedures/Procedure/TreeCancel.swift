internal import ProcedurePrimitives

/// One cancel of a group on its way through the tree below it: first everything is marked, then
/// everything is told.
///
/// Whoever adds a child to a group that is marked already marks the child itself, and leaves it here
/// to be told when the walk has been everywhere. So nothing of the tree is told before all of it
/// reads cancelled, and nobody waits.
final class TreeCancel: Sendable {
  let errors: [any Error]
  let reason: CancellationReason

  private struct Progress: Sendable {
    var isMarked = false
    var untold: [Procedure] = []
  }

  private let progress = Locked(Progress())

  /// The cancel of the group that a subtree was added to, if this is its way through the subtree.
  private let earlier: TreeCancel?

  init(errors: [any Error], reason: CancellationReason) {
    self.errors = errors
    self.reason = reason
    earlier = nil
  }

  /// Goes on with a subtree that was added to a group which had been cancelled.
  init(following earlier: TreeCancel) {
    errors = earlier.errors
    reason = earlier.reason
    self.earlier = earlier
  }

  /// Whether everything there is below has been marked.
  var isMarked: Bool { progress.withLock { $0.isMarked } }

  /// Has procedures told that were marked: now, or when the walk is done.
  func tell(_ marked: [Procedure]) {
    let isMarked = progress.withLock { progress in
      if !progress.isMarked { progress.untold += marked }
      return progress.isMarked
    }
    if isMarked { deliver(marked) }
  }

  /// The walk is done: tells everybody, in the order in which they were marked.
  func finishMarking() {
    let untold = progress.withLock { progress in
      progress.isMarked = true
      defer { progress.untold = [] }
      return progress.untold
    }
    deliver(untold)
  }

  private func deliver(_ marked: [Procedure]) {
    if let earlier { return earlier.tell(marked) }
    for procedure in marked { procedure.deliverCancel(reason) }
  }
}

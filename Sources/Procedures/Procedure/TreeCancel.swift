internal import ProcedurePrimitives

/// One cancel of a group on its way through the tree below it: first everything is marked, then
/// the cancel of each procedure is delivered.
///
/// A thread that adds a child to a group that is marked already marks the child itself, and leaves
/// it here, its cancel to be delivered when the walk has been everywhere. So no cancel is delivered
/// before all of the tree reads cancelled, and no thread waits.
final class TreeCancel: Sendable {
  let errors: [any Error]
  let reason: CancellationReason

  private struct Progress: Sendable {
    /// All that there was below has been marked.
    var isWalked = false
    /// Cancels are delivered from here on.
    var isMarked = false
    var untold: [Procedure] = []
    /// How many groups are being added below, their members not yet marked.
    var followers = 0
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
  init(following cancel: TreeCancel) {
    errors = cancel.errors
    reason = cancel.reason
    // One that is done only passes on: without it, groups that are added one inside the other make no
    // chain.
    var earlier = cancel
    while let next = earlier.earlier, earlier.isMarked { earlier = next }
    self.earlier = earlier
  }

  private var isMarked: Bool { progress.withLock { $0.isMarked } }

  /// Whether everything there is below has been marked, though it may not be delivered.
  var isEverywhere: Bool { progress.withLock { $0.isWalked && $0.followers == 0 } }

  /// The walk is done.
  func noteWalked() { progress.withLock { $0.isWalked = true } }

  /// A group is being added below. Called under the lock of the list that it is added to, so that no
  /// other walk passes by.
  func expectFollower() { countFollower(1) }

  /// The members of the added group have been marked.
  func followerIsMarked() { countFollower(-1) }

  private func countFollower(_ difference: Int) {
    var cancel: TreeCancel? = self
    while let next = cancel {
      next.progress.withLock { $0.followers += difference }
      cancel = next.earlier
    }
  }

  /// Delivers the cancels of marked procedures: now, or when this walk and those before are done.
  func tell(_ marked: [Procedure]) {
    var cancel = self
    while true {
      let isMarked = cancel.progress.withLock { progress in
        if !progress.isMarked {
          if progress.untold.isEmpty { progress.untold = marked } else { progress.untold += marked }
        }
        return progress.isMarked
      }
      guard isMarked else { return }
      guard let earlier = cancel.earlier else { break }
      cancel = earlier
    }
    for procedure in marked { procedure.deliverCancel(reason) }
  }

  /// The walk is done: delivers the cancels, in the order in which procedures were marked.
  func finishMarking() {
    let untold = progress.withLock { progress in
      progress.isMarked = true
      defer { progress.untold = [] }
      return progress.untold
    }
    tell(untold)
  }
}

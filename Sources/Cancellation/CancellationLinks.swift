internal import Primitives

/// The rarer connections of a token's state. Allocated with the first of them, guarded by its lock.
struct CancellationLinks: Sendable {
  /// A place in a parent's list of children.
  struct Parent: Sendable {
    let state: CancellationState
    let key: SlabKey
  }

  /// The pending deadline. `generation` tells a timer that was replaced from the one that counts.
  struct Deadline: Sendable {
    let clock: TimerClock
    var key: SlabKey?
  }

  var parents: [Parent] = []
  var children = Slab<CancellationState>()
  var childList = SlabList()
  var deadline: Deadline?
  var deadlineGeneration: UInt64 = 0

  /// Set while a token without a source has handlers: they keep its deadline alive.
  var keepsItself: CancellationState?
  var ownsItselfWhileObserved = false

  var weakTargets = 0
  var sweepAt = 32
}

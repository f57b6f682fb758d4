internal import ProcedurePrimitives

/// The progress of a procedure, once a reader watches it or a group around it.
///
/// A child adds the difference of each change to its group, with one lock held at a time, so that a
/// change costs time in proportion to the depth of the tree, not to its size.
final class ProgressNode: Sendable {
  private struct State: Sendable {
    var fraction: Double
    /// Whether the procedure reported it; otherwise it is the children's mean.
    var isReported: Bool
    var isFinished = false
    /// Whether it has a parent, or is about to.
    var hasJoined = false
    var parent: ProgressNode?
    /// Its generation in the parent.
    var place = 0
    /// Only children of this generation count: an attempt replaces all earlier attempts.
    var generation = 0
    /// The sums of the children's weight times fraction, and of their weights.
    var completed = 0.0
    var total = 0.0
    var watchers: [ObjectIdentifier: ProgressWatcher] = [:]
  }

  /// The work after the lock for a new fraction.
  private struct Change: Sendable {
    let difference: Double
    let parent: ProgressNode?
    let place: Int
    let watchers: [ProgressWatcher]
  }

  private let weight: Double
  private let state: Locked<State>

  init(weight: Double, reported: Double?) {
    self.weight = weight
    state = Locked(State(fraction: reported ?? 0, isReported: reported != nil))
  }

  deinit {
    for watcher in state.withLock({ $0.watchers.values.map(\.self) }) { watcher.changes.finish() }
    // Iterative: groups may be nested thousands deep.
    var parent = takeParent()
    while var node = parent.take(), isKnownUniquelyReferenced(&node) { parent = node.takeParent() }
  }

  /// Takes the parent out of a node that is being released.
  private func takeParent() -> ProgressNode? { state.withLock { $0.parent.take() } }

  /// Adds a reader, which receives the present fraction first.
  ///
  /// - Parameter procedure: the procedure whose progress this is.
  func watch(for procedure: Procedure) -> ProgressUpdates {
    let (stream, changes) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let watcher = ProgressWatcher(changes)
    let identifier = ObjectIdentifier(watcher)
    let isFinished = state.withLock { state in
      watcher.fraction = state.fraction
      if !state.isFinished { state.watchers[identifier] = watcher }
      return state.isFinished
    }
    changes.yield()
    if isFinished {
      changes.finish()
    } else {
      changes.onTermination = { [weak self] _ in
        _ = self?.state.withLock { $0.watchers.removeValue(forKey: identifier) }
      }
    }
    return ProgressUpdates(watcher: watcher, changes: stream, procedure: Weak(procedure))
  }

  func report(_ fraction: Double) {
    let change = state.withLock { state in
      state.isReported = true
      return state.isFinished ? nil : move(&state, to: fraction)
    }
    propagate(change)
  }

  /// Sets the fraction to 1, and ends the readers' streams.
  func finish() {
    let (change, watchers) = state.withLock { state in
      let change = move(&state, to: 1)
      state.isFinished = true
      defer { state.watchers = [:] }
      return (change, state.watchers.values.map(\.self))
    }
    propagate(change)
    for watcher in watchers { watcher.changes.finish() }
  }

  /// Joins its group's node, once: beside its siblings, or in place of earlier attempts.
  func join(_ parent: ProgressNode, replacingOthers: Bool) {
    // 1. Two may be about to: who reads the children, and who announces this one. A second
    //    generation would leave it out.
    let isFirst = state.withLock { state in
      defer { state.hasJoined = true }
      return !state.hasJoined
    }
    guard isFirst else { return }
    // 2. Its place, then its present fraction, and from now on each change of that.
    let place = replacingOthers ? parent.beginGeneration() : 0
    let completed = state.withLock { state in
      state.parent = parent
      state.place = place
      return state.fraction * weight
    }
    parent.propagate(parent.add(completed: completed, total: weight, at: place))
  }

  /// Counts finished children that the group did not keep, before it was watched.
  func add(finished weight: Double) {
    propagate(add(completed: weight, total: weight, at: 0))
  }

  private func beginGeneration() -> Int {
    state.withLock { state in
      state.generation += 1
      (state.completed, state.total) = (0, 0)
      return state.generation
    }
  }

  private func add(completed: Double, total: Double = 0, at place: Int) -> Change? {
    state.withLock { state in
      guard place == state.generation else { return nil }
      state.completed += completed
      state.total += total
      guard !state.isReported, !state.isFinished, state.total > 0 else { return nil }
      return move(&state, to: min(max(state.completed / state.total, 0), 1))
    }
  }

  private func move(_ state: inout State, to fraction: Double) -> Change? {
    guard fraction != state.fraction else { return nil }
    defer { state.fraction = fraction }
    for watcher in state.watchers.values { watcher.fraction = fraction }
    return Change(
      difference: (fraction - state.fraction) * weight, parent: state.parent,
      place: state.place, watchers: state.watchers.values.map(\.self))
  }

  /// Iterative: groups may be nested thousands deep.
  private func propagate(_ change: Change?) {
    var next = change
    while let change = next {
      for watcher in change.watchers { watcher.changes.yield() }
      next = change.parent?.add(completed: change.difference, at: change.place)
    }
  }
}

/// A reader. `changes` signals it that `fraction` has changed.
final class ProgressWatcher: Sendable {
  let changes: AsyncStream<Void>.Continuation
  private let latest = Locked(0.0)

  init(_ changes: AsyncStream<Void>.Continuation) {
    self.changes = changes
  }

  /// Set under the node's lock, so that an older fraction never replaces a newer one.
  var fraction: Double {
    get { latest.withLock { $0 } }
    set { latest.withLock { $0 = newValue } }
  }
}

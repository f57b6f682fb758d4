internal import ProcedurePrimitives

/// How far a procedure is, while a reader watches it or a group that it is in.
///
/// Changes go up from child to group by difference, one lock at a time, so that a change costs the
/// depth of the tree and not its size.
final class ProgressNode: Sendable {
  /// A reader: notified that there is a change, it finds it in `latest`.
  private struct Watcher: Sendable {
    let latest: LatestFraction
    let changes: AsyncStream<Void>.Continuation
  }

  private struct State: Sendable {
    var fraction: Double
    /// Whether it was reported, and is not the children's.
    var isReported: Bool
    var isFinished = false
    var parent: ProgressNode?
    /// Which of the parent's generations it belongs to.
    var place = 0
    /// Only children of this generation count: an attempt replaces those before it.
    var generation = 0
    /// The children's sum of weight times fraction, and of weights.
    var completed = 0.0
    var total = 0.0
    var watchers: [Int: Watcher] = [:]
    var lastWatcher = 0
  }

  /// The steps after the lock for a new fraction.
  private struct Change: Sendable {
    let difference: Double
    let parent: ProgressNode?
    let place: Int
    let watchers: [Watcher]
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

  /// For a node that only released objects refer to.
  private func takeParent() -> ProgressNode? { state.withLock { $0.parent.take() } }

  /// Adds a reader.
  ///
  /// - Returns: the latest fraction, and a stream with an element for each change, beginning with the present
  ///   fraction.
  func watch() -> (latest: LatestFraction, changes: AsyncStream<Void>) {
    let (stream, changes) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let (latest, identifier): (LatestFraction, Int?) = state.withLock { state in
      let latest = LatestFraction(state.fraction)
      guard !state.isFinished else { return (latest, nil) }
      state.lastWatcher += 1
      state.watchers[state.lastWatcher] = Watcher(latest: latest, changes: changes)
      return (latest, state.lastWatcher)
    }
    changes.yield()
    if let identifier {
      changes.onTermination = { [weak self] _ in
        _ = self?.state.withLock { $0.watchers.removeValue(forKey: identifier) }
      }
    } else {
      changes.finish()
    }
    return (latest, stream)
  }

  /// The procedure reports it itself.
  func report(_ fraction: Double) {
    let change = state.withLock { state in
      state.isReported = true
      return state.isFinished ? nil : move(&state, to: fraction)
    }
    propagate(change)
  }

  /// The procedure has finished, and with it its share of its group.
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

  /// Becomes part of its group's, once.
  func join(_ parent: ProgressNode) { join(parent, at: 0) }

  /// Becomes all that counts of its group's, once.
  func replaceAll(in parent: ProgressNode) {
    let generation = parent.state.withLock { state in
      state.generation += 1
      (state.completed, state.total) = (0, 0)
      return state.generation
    }
    join(parent, at: generation)
  }

  private func join(_ parent: ProgressNode, at place: Int) {
    let completed: Double? = state.withLock { state in
      guard state.parent == nil else { return nil }
      state.parent = parent
      state.place = place
      return state.fraction * weight
    }
    guard let completed else { return }
    parent.propagate(parent.add(completed: completed, total: weight, at: place))
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
    for watcher in state.watchers.values { watcher.latest.fraction = fraction }
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

/// The latest fraction, for one reader.
///
/// Set under the lock of the node, so that it never goes back to an older one.
final class LatestFraction: Sendable {
  private let state: Locked<Double>

  init(_ fraction: Double) {
    state = Locked(fraction)
  }

  var fraction: Double {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}

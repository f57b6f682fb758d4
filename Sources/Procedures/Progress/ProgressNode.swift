internal import Primitives

/// How far a procedure is, while somebody watches it or a group that it is in.
///
/// Changes go up from child to group by difference, one lock at a time, so that a change costs the
/// depth of the tree and not its size.
final class ProgressNode: Sendable {
  private struct State: Sendable {
    var fraction: Double
    /// Whether it was reported, and is not that of the children.
    var isReported: Bool
    var isFinished = false
    var parent: ProgressNode?
    /// Of the children: the sum of weight times fraction, and of weights.
    var completed = 0.0
    var total = 0.0
    var watchers: [Int: AsyncStream<Double>.Continuation] = [:]
    var lastWatcher = 0
  }

  /// What to do after the lock about a new fraction.
  private struct Change: Sendable {
    let fraction: Double
    let difference: Double
    let parent: ProgressNode?
    let watchers: [AsyncStream<Double>.Continuation]
  }

  private let weight: Double
  private let state: Locked<State>

  init(weight: Double, reported: Double?) {
    self.weight = weight
    state = Locked(State(fraction: reported ?? 0, isReported: reported != nil))
  }

  deinit {
    for watcher in state.withLock({ $0.watchers.values.map(\.self) }) { watcher.finish() }
  }

  /// Sends each new fraction, beginning with the present one.
  func watch(_ watcher: AsyncStream<Double>.Continuation) {
    let (fraction, identifier): (Double, Int?) = state.withLock { state in
      guard !state.isFinished else { return (state.fraction, nil) }
      state.lastWatcher += 1
      state.watchers[state.lastWatcher] = watcher
      return (state.fraction, state.lastWatcher)
    }
    watcher.yield(fraction)
    guard let identifier else { return watcher.finish() }
    watcher.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.watchers.removeValue(forKey: identifier) }
    }
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
    for watcher in watchers { watcher.finish() }
  }

  /// Becomes part of its group's, once.
  func join(_ parent: ProgressNode) {
    let completed: Double? = state.withLock { state in
      guard state.parent == nil else { return nil }
      state.parent = parent
      return state.fraction * weight
    }
    guard let completed else { return }
    parent.propagate(parent.add(completed: completed, total: weight))
  }

  private func add(completed: Double, total: Double = 0) -> Change? {
    state.withLock { state in
      state.completed += completed
      state.total += total
      guard !state.isReported, !state.isFinished, state.total > 0 else { return nil }
      return move(&state, to: min(max(state.completed / state.total, 0), 1))
    }
  }

  private func move(_ state: inout State, to fraction: Double) -> Change? {
    guard fraction != state.fraction else { return nil }
    defer { state.fraction = fraction }
    return Change(
      fraction: fraction, difference: (fraction - state.fraction) * weight, parent: state.parent,
      watchers: state.watchers.values.map(\.self))
  }

  /// Iterative: groups may be nested thousands deep.
  private func propagate(_ change: Change?) {
    var next = change
    while let change = next {
      for watcher in change.watchers { watcher.yield(change.fraction) }
      next = change.parent?.add(completed: change.difference)
    }
  }
}

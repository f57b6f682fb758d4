internal import Synchronization

/// Tasks of Swift's own pool.
enum Tasks {
  /// Child tasks of one group.
  static func run(_ count: Int, _ work: @escaping @Sendable () -> Void) async {
    await withDiscardingTaskGroup { group in
      for _ in 0..<count { group.addTask { work() } }
    }
  }
}

/// Where tasks wait that are to be cancelled, without a timer that would outlive them.
final class Parking: Sendable {
  private let count = Atomic(0)

  /// Suspends the task until it is cancelled.
  func wait() async {
    let place = Place()
    count.add(1, ordering: .relaxed)
    await withTaskCancellationHandler {
      await withCheckedContinuation { place.park($0) }
    } onCancel: {
      place.leave()
    }
  }

  /// Returns when so many tasks have come to wait.
  func filled(with expected: Int) async {
    while count.load(ordering: .relaxed) < expected { try? await Task.sleep(for: .milliseconds(1)) }
  }

  private final class Place: Sendable {
    private enum State {
      case empty
      case taken(CheckedContinuation<Void, Never>)
      case left
    }

    private let state = Mutex(State.empty)

    func park(_ continuation: CheckedContinuation<Void, Never>) {
      let hasLeft = state.withLock { state in
        if case .left = state { return true }
        state = .taken(continuation)
        return false
      }
      if hasLeft { continuation.resume() }
    }

    func leave() {
      let parked = state.withLock { state -> CheckedContinuation<Void, Never>? in
        defer { state = .left }
        if case .taken(let continuation) = state { return continuation }
        return nil
      }
      parked?.resume()
    }
  }
}

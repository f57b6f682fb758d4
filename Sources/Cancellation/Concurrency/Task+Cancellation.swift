internal import ProcedurePrimitives

extension Task where Failure == any Error {
  /// Starts a task that is cancelled when `token` is.
  ///
  /// With a token that is already cancelled the task starts cancelled: its first line sees
  /// `Task.isCancelled`. It runs nonetheless, as Swift's tasks do. A task that has ended leaves the
  /// token. Cancelling the task does not cancel the token.
  ///
  /// ```swift
  /// Task(cancelledBy: token) {
  ///   try await download(url)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - token: what cancels the task.
  ///   - priority: as in `Task.init`.
  ///   - operation: runs where it was formed, as in `Task.init`.
  @discardableResult
  public init(
    cancelledBy token: CancellationToken,
    priority: TaskPriority? = nil,
    @_inheritActorContext operation: sending @escaping @isolated(any) () async throws -> Success
  ) {
    let registration = TaskRegistration()
    self.init(priority: priority) {
      defer { registration.taskHasEnded() }
      // The registration below may come after this line; the task must not see the difference.
      if token.isCancelled { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
      return try await operation()
    }
    let task = self
    registration.note(token.onCancel { task.cancel() })
  }
}

/// The place of a task on a token. Either the task ends first, or it is noted first.
private final class TaskRegistration: Sendable {
  private enum State: Sendable {
    case unnoted
    case noted(CancellationRegistration)
    case ended
  }

  private let state = Locked(State.unnoted)

  func note(_ registration: CancellationRegistration) {
    let hasEnded = state.withLock { state in
      if case .ended = state { return true }
      state = .noted(registration)
      return false
    }
    if hasEnded { registration.unregister() }
  }

  func taskHasEnded() {
    let registration: CancellationRegistration? = state.withLock { state in
      defer { state = .ended }
      if case .noted(let registration) = state { return registration }
      return nil
    }
    registration?.unregister()
  }
}

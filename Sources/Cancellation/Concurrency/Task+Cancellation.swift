internal import ProcedurePrimitives

/// Tasks that a token cancels.
extension Task where Failure == any Error {
  /// Starts a task that is cancelled when `token` is.
  ///
  /// The task is registered on the token before the first line of `operation` runs, so every line
  /// that runs after `cancel()` has returned sees the cancel. If the token is already cancelled,
  /// the task starts cancelled and still runs, as Swift's tasks do. A task that has ended leaves
  /// the token. Cancelling the task does not cancel the token.
  ///
  /// ```swift
  /// Task(cancelledBy: token) {
  ///   try await download(url)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - token: cancels the task.
  ///   - priority: as in `Task.init`.
  ///   - operation: runs where it was formed, as in `Task.init`.
  @discardableResult
  public init(
    cancelledBy token: CancellationToken,
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async throws -> Success
  ) {
    self.init(placedOn: token, priority: priority, operation)
  }
}

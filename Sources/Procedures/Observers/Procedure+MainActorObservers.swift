// As the others, for closures that are `@MainActor`: written so, or a method of a type on the main actor.
// The turn waits for them by message; the main actor must be free to run them, so that a main thread
// which blocks until the procedure has finished waits for ever.
extension ProcedureProtocol {
  /// Calls `block` on the main actor when the procedure is about to execute. Keep `pendingExecute` to hold it back.
  @inlinable @discardableResult
  public func addWillExecuteBlockObserver(
    _ block:
      @escaping @MainActor @Sendable (_ procedure: Self, _ pendingExecute: PendingEvent) -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .willExecute { procedure, pendingExecute in
          MainActor.assumeIsolated { block(procedure, pendingExecute) }
        }, at: .mainActor))
  }

  /// Calls `block` on the main actor when the procedure is about to execute.
  @inlinable @discardableResult
  public func addWillExecuteBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .willExecute { procedure, _ in MainActor.assumeIsolated { block(procedure) } },
        at: .mainActor))
  }

  /// Calls `block` on the main actor when the procedure is about to execute.
  @inlinable @discardableResult
  public func addWillExecuteBlockObserver(
    _ block: @escaping @MainActor @Sendable () -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .willExecute { _, _ in MainActor.assumeIsolated { block() } }, at: .mainActor))
  }

  /// Calls `block` on the main actor when `execute()` has returned. The work may go on asynchronously.
  @inlinable @discardableResult
  public func addDidExecuteBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .didExecute { procedure in MainActor.assumeIsolated { block(procedure) } }, at: .mainActor))
  }

  /// Calls `block` on the main actor when `execute()` has returned.
  @inlinable @discardableResult
  public func addDidExecuteBlockObserver(
    _ block: @escaping @MainActor @Sendable () -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .didExecute { _ in MainActor.assumeIsolated { block() } }, at: .mainActor))
  }

  /// Calls `block` on the main actor once when the procedure was cancelled, after `procedureDidCancel(withErrors:)`.
  @inlinable @discardableResult
  public func addDidCancelBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .didCancel { procedure, errors in MainActor.assumeIsolated { block(procedure, errors) } },
        at: .mainActor))
  }

  /// Calls `block` on the main actor once when the procedure was cancelled.
  @inlinable @discardableResult
  public func addDidCancelBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .didCancel { procedure, _ in MainActor.assumeIsolated { block(procedure) } }, at: .mainActor
      ))
  }

  /// Calls `block` on the main actor once when the procedure was cancelled.
  @inlinable @discardableResult
  public func addDidCancelBlockObserver(
    _ block: @escaping @MainActor @Sendable () -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .didCancel { _, _ in MainActor.assumeIsolated { block() } }, at: .mainActor))
  }

  /// Calls `block` on the main actor when the procedure is about to finish. Keep `pendingFinish` to hold it back.
  @inlinable @discardableResult
  public func addWillFinishBlockObserver(
    _ block:
      @escaping @MainActor @Sendable (
        _ procedure: Self, _ errors: [any Error], _ pendingFinish: PendingEvent
      ) -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .willFinish { procedure, errors, pendingFinish in
          MainActor.assumeIsolated { block(procedure, errors, pendingFinish) }
        }, at: .mainActor))
  }

  /// Calls `block` on the main actor when the procedure is about to finish.
  @inlinable @discardableResult
  public func addWillFinishBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .willFinish { procedure, errors, _ in MainActor.assumeIsolated { block(procedure, errors) }
        }, at: .mainActor))
  }

  /// Calls `block` on the main actor when the procedure is about to finish.
  @inlinable @discardableResult
  public func addWillFinishBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .willFinish { procedure, _, _ in MainActor.assumeIsolated { block(procedure) } },
        at: .mainActor))
  }

  /// Calls `block` on the main actor when the procedure is about to finish.
  @inlinable @discardableResult
  public func addWillFinishBlockObserver(
    _ block: @escaping @MainActor @Sendable () -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .willFinish { _, _, _ in MainActor.assumeIsolated { block() } }, at: .mainActor))
  }

  /// Calls `block` on the main actor when the procedure has finished, before its dependents start.
  @inlinable @discardableResult
  public func addDidFinishBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .didFinish { procedure, errors in MainActor.assumeIsolated { block(procedure, errors) } },
        at: .mainActor))
  }

  /// Calls `block` on the main actor when the procedure has finished.
  @inlinable @discardableResult
  public func addDidFinishBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .didFinish { procedure, _ in MainActor.assumeIsolated { block(procedure) } }, at: .mainActor
      ))
  }

  /// Calls `block` on the main actor when the procedure has finished.
  @inlinable @discardableResult
  public func addDidFinishBlockObserver(
    _ block: @escaping @MainActor @Sendable () -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .didFinish { _, _ in MainActor.assumeIsolated { block() } }, at: .mainActor))
  }

  /// Calls `block` on the main actor before the procedure adds another to its queue, or a child.
  @inlinable @discardableResult
  public func addWillAddProcedureBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self, _ added: Procedure) -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .willAdd { procedure, added in MainActor.assumeIsolated { block(procedure, added) } },
        at: .mainActor))
  }

  /// Calls `block` on the main actor before the procedure adds another to its queue, or a child.
  @inlinable @discardableResult
  public func addWillAddProcedureBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .willAdd { procedure, _ in MainActor.assumeIsolated { block(procedure) } }, at: .mainActor))
  }

  /// Calls `block` on the main actor before the procedure adds another to its queue, or a child.
  @inlinable @discardableResult
  public func addWillAddProcedureBlockObserver(
    _ block: @escaping @MainActor @Sendable () -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .willAdd { _, _ in MainActor.assumeIsolated { block() } }, at: .mainActor))
  }

  /// Calls `block` on the main actor after the procedure added another to its queue, or a child.
  ///
  /// By then it may run, or have finished: what it needs before it starts belongs to will-add.
  @inlinable @discardableResult
  public func addDidAddProcedureBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self, _ added: Procedure) -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .didAdd { procedure, added in MainActor.assumeIsolated { block(procedure, added) } },
        at: .mainActor))
  }

  /// Calls `block` on the main actor after the procedure added another to its queue, or a child.
  ///
  /// By then it may run, or have finished: what it needs before it starts belongs to will-add.
  @inlinable @discardableResult
  public func addDidAddProcedureBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .didAdd { procedure, _ in MainActor.assumeIsolated { block(procedure) } }, at: .mainActor))
  }

  /// Calls `block` on the main actor after the procedure added another to its queue, or a child.
  ///
  /// By then it may run, or have finished: what it needs before it starts belongs to will-add.
  @inlinable @discardableResult
  public func addDidAddProcedureBlockObserver(
    _ block: @escaping @MainActor @Sendable () -> Void
  ) -> ObserverRegistration {
    add(
      BlockObserverEntry<Self>(
        .didAdd { _, _ in MainActor.assumeIsolated { block() } }, at: .mainActor))
  }
}

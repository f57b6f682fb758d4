public import Dispatch

// Each of these adds a closure that is called in the procedure's turns, in the order of adding.
// `synchronizedWith` has it called on a Dispatch queue instead; the turn waits for it by message.
// The closure gets the procedure as its own type and so need not capture it. It names as many of its
// parameters, from the left, as it has a use for.
extension ProcedureProtocol {
  /// Calls `block` when the procedure is about to execute. Keep `pendingExecute` to hold it back.
  @inlinable @discardableResult
  public func addWillExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ pendingExecute: PendingEvent) -> Void
  ) -> ObserverRegistration {
    add(BlockObserverEntry(.willExecute(block), at: ObserverPlace(queue)))
  }

  /// Calls `block` when the procedure is about to execute.
  @inlinable @discardableResult
  public func addWillExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    addWillExecuteBlockObserver(synchronizedWith: queue) { procedure, _ in block(procedure) }
  }

  /// Calls `block` when the procedure is about to execute.
  @inlinable @discardableResult
  public func addWillExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable () -> Void
  ) -> ObserverRegistration {
    addWillExecuteBlockObserver(synchronizedWith: queue) { _, _ in block() }
  }

  /// Calls `block` when `execute()` has returned. The work may go on asynchronously.
  @inlinable @discardableResult
  public func addDidExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    add(BlockObserverEntry(.didExecute(block), at: ObserverPlace(queue)))
  }

  /// Calls `block` when `execute()` has returned.
  @inlinable @discardableResult
  public func addDidExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable () -> Void
  ) -> ObserverRegistration {
    addDidExecuteBlockObserver(synchronizedWith: queue) { _ in block() }
  }

  /// Calls `block` once when the procedure was cancelled, after `procedureDidCancel(withErrors:)`.
  @inlinable @discardableResult
  public func addDidCancelBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(BlockObserverEntry(.didCancel(block), at: ObserverPlace(queue)))
  }

  /// Calls `block` once when the procedure was cancelled.
  @inlinable @discardableResult
  public func addDidCancelBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    addDidCancelBlockObserver(synchronizedWith: queue) { procedure, _ in block(procedure) }
  }

  /// Calls `block` once when the procedure was cancelled.
  @inlinable @discardableResult
  public func addDidCancelBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable () -> Void
  ) -> ObserverRegistration {
    addDidCancelBlockObserver(synchronizedWith: queue) { _, _ in block() }
  }

  /// Calls `block` when the procedure is about to finish. Keep `pendingFinish` to hold it back.
  @inlinable @discardableResult
  public func addWillFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block:
      @escaping @Sendable (_ procedure: Self, _ errors: [any Error], _ pendingFinish: PendingEvent)
      -> Void
  ) -> ObserverRegistration {
    add(BlockObserverEntry(.willFinish(block), at: ObserverPlace(queue)))
  }

  /// Calls `block` when the procedure is about to finish.
  @inlinable @discardableResult
  public func addWillFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    addWillFinishBlockObserver(synchronizedWith: queue) { procedure, errors, _ in
      block(procedure, errors)
    }
  }

  /// Calls `block` when the procedure is about to finish.
  @inlinable @discardableResult
  public func addWillFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    addWillFinishBlockObserver(synchronizedWith: queue) { procedure, _, _ in block(procedure) }
  }

  /// Calls `block` when the procedure is about to finish.
  @inlinable @discardableResult
  public func addWillFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable () -> Void
  ) -> ObserverRegistration {
    addWillFinishBlockObserver(synchronizedWith: queue) { _, _, _ in block() }
  }

  /// Calls `block` when the procedure has finished, before its dependents start.
  @inlinable @discardableResult
  public func addDidFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(BlockObserverEntry(.didFinish(block), at: ObserverPlace(queue)))
  }

  /// Calls `block` when the procedure has finished.
  @inlinable @discardableResult
  public func addDidFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    addDidFinishBlockObserver(synchronizedWith: queue) { procedure, _ in block(procedure) }
  }

  /// Calls `block` when the procedure has finished.
  @inlinable @discardableResult
  public func addDidFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable () -> Void
  ) -> ObserverRegistration {
    addDidFinishBlockObserver(synchronizedWith: queue) { _, _ in block() }
  }

  /// Calls `block` before the procedure adds another to its queue, or a child.
  @inlinable @discardableResult
  public func addWillAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ added: Procedure) -> Void
  ) -> ObserverRegistration {
    add(BlockObserverEntry(.willAdd(block), at: ObserverPlace(queue)))
  }

  /// Calls `block` before the procedure adds another to its queue, or a child.
  @inlinable @discardableResult
  public func addWillAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    addWillAddProcedureBlockObserver(synchronizedWith: queue) { procedure, _ in block(procedure) }
  }

  /// Calls `block` before the procedure adds another to its queue, or a child.
  @inlinable @discardableResult
  public func addWillAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable () -> Void
  ) -> ObserverRegistration {
    addWillAddProcedureBlockObserver(synchronizedWith: queue) { _, _ in block() }
  }

  /// Calls `block` after the procedure added another to its queue, or a child.
  ///
  /// By then it may run, or have finished: what it needs before it starts belongs to will-add.
  @inlinable @discardableResult
  public func addDidAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ added: Procedure) -> Void
  ) -> ObserverRegistration {
    add(BlockObserverEntry(.didAdd(block), at: ObserverPlace(queue)))
  }

  /// Calls `block` after the procedure added another to its queue, or a child.
  ///
  /// By then it may run, or have finished: what it needs before it starts belongs to will-add.
  @inlinable @discardableResult
  public func addDidAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    addDidAddProcedureBlockObserver(synchronizedWith: queue) { procedure, _ in block(procedure) }
  }

  /// Calls `block` after the procedure added another to its queue, or a child.
  ///
  /// By then it may run, or have finished: what it needs before it starts belongs to will-add.
  @inlinable @discardableResult
  public func addDidAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable () -> Void
  ) -> ObserverRegistration {
    addDidAddProcedureBlockObserver(synchronizedWith: queue) { _, _ in block() }
  }
}

public import Dispatch

// One function for each event. Closures are called in the procedure's turns, in the order of
// adding, and receive the procedure with its own type, so that they need not capture it. Each
// function has a form with all parameters and a form without any.
extension ProcedureProtocol {
  /// Adds the closure of an event. All functions below call it.
  @inlinable
  func add(_ block: ObserverBlock<Self>, at place: ObserverPlace) -> ObserverRegistration {
    add(BlockObserverEntry(block, at: place))
  }
}

// These closures run on the procedure's worker, or on a Dispatch queue, for which the turn waits
// without blocking a thread.
extension ProcedureProtocol {
  /// Calls `block` when the procedure is about to execute. Keep `pendingExecute` to hold it back.
  @inlinable @discardableResult
  public func addWillExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ pendingExecute: PendingEvent) -> Void
  ) -> ObserverRegistration {
    add(.willExecute(block), at: ObserverPlace(queue))
  }

  /// Calls `block` when the procedure is about to execute.
  @inlinable @discardableResult
  public func addWillExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil, _ block: @escaping @Sendable () -> Void
  ) -> ObserverRegistration {
    add(.willExecute { _, _ in block() }, at: ObserverPlace(queue))
  }

  /// Calls `block` when `execute()` has returned. The work may go on asynchronously.
  @inlinable @discardableResult
  public func addDidExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    add(.didExecute(block), at: ObserverPlace(queue))
  }

  /// Calls `block` when `execute()` has returned.
  @inlinable @discardableResult
  public func addDidExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil, _ block: @escaping @Sendable () -> Void
  ) -> ObserverRegistration {
    add(.didExecute { _ in block() }, at: ObserverPlace(queue))
  }

  /// Calls `block` once when the procedure was cancelled. The override has been called before.
  @inlinable @discardableResult
  public func addDidCancelBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(.didCancel(block), at: ObserverPlace(queue))
  }

  /// Calls `block` once when the procedure was cancelled.
  @inlinable @discardableResult
  public func addDidCancelBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil, _ block: @escaping @Sendable () -> Void
  ) -> ObserverRegistration {
    add(.didCancel { _, _ in block() }, at: ObserverPlace(queue))
  }

  /// Calls `block` when the procedure is about to finish. Keep `pendingFinish` to hold it back.
  @inlinable @discardableResult
  public func addWillFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block:
      @escaping @Sendable (_ procedure: Self, _ errors: [any Error], _ pendingFinish: PendingEvent)
      -> Void
  ) -> ObserverRegistration {
    add(.willFinish(block), at: ObserverPlace(queue))
  }

  /// Calls `block` when the procedure is about to finish.
  @inlinable @discardableResult
  public func addWillFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil, _ block: @escaping @Sendable () -> Void
  ) -> ObserverRegistration {
    add(.willFinish { _, _, _ in block() }, at: ObserverPlace(queue))
  }

  /// Calls `block` when the procedure has finished. Its dependents start afterwards.
  @inlinable @discardableResult
  public func addDidFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(.didFinish(block), at: ObserverPlace(queue))
  }

  /// Calls `block` when the procedure has finished.
  @inlinable @discardableResult
  public func addDidFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil, _ block: @escaping @Sendable () -> Void
  ) -> ObserverRegistration {
    add(.didFinish { _, _ in block() }, at: ObserverPlace(queue))
  }

  /// Calls `block` before the procedure adds another to its queue, or a child.
  @inlinable @discardableResult
  public func addWillAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ added: Procedure) -> Void
  ) -> ObserverRegistration {
    add(.willAdd(block), at: ObserverPlace(queue))
  }

  /// Calls `block` before the procedure adds another to its queue, or a child.
  @inlinable @discardableResult
  public func addWillAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil, _ block: @escaping @Sendable () -> Void
  ) -> ObserverRegistration {
    add(.willAdd { _, _ in block() }, at: ObserverPlace(queue))
  }

  /// Calls `block` after the procedure added another to its queue, or a child.
  ///
  /// By then `added` may run, or have finished: prepare it in a will-add observer.
  @inlinable @discardableResult
  public func addDidAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ added: Procedure) -> Void
  ) -> ObserverRegistration {
    add(.didAdd(block), at: ObserverPlace(queue))
  }

  /// Calls `block` after the procedure added another to its queue, or a child.
  @inlinable @discardableResult
  public func addDidAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil, _ block: @escaping @Sendable () -> Void
  ) -> ObserverRegistration {
    add(.didAdd { _, _ in block() }, at: ObserverPlace(queue))
  }
}

// These closures are `@MainActor`, by annotation or as a method of a type on the main actor, and
// run there. The turn waits for them without blocking a thread. A main thread that blocks until the
// procedure has finished waits forever.
extension ProcedureProtocol {
  /// Calls `block` on the main actor when the procedure is about to execute. Keep `pendingExecute`
  /// to hold it back.
  @inlinable @discardableResult
  public func addWillExecuteBlockObserver(
    _ block:
      @escaping @MainActor @Sendable (_ procedure: Self, _ pendingExecute: PendingEvent) -> Void
  ) -> ObserverRegistration {
    add(
      .willExecute { procedure, pending in MainActor.assumeIsolated { block(procedure, pending) } },
      at: .mainActor)
  }

  /// Calls `block` on the main actor when the procedure is about to execute.
  @inlinable @discardableResult
  public func addWillExecuteBlockObserver(
    _ block: @escaping @MainActor @Sendable () -> Void
  ) -> ObserverRegistration {
    add(.willExecute { _, _ in MainActor.assumeIsolated(block) }, at: .mainActor)
  }

  /// Calls `block` on the main actor when `execute()` has returned. The work may go on
  /// asynchronously.
  @inlinable @discardableResult
  public func addDidExecuteBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    add(.didExecute { procedure in MainActor.assumeIsolated { block(procedure) } }, at: .mainActor)
  }

  /// Calls `block` on the main actor when `execute()` has returned.
  @inlinable @discardableResult
  public func addDidExecuteBlockObserver(
    _ block: @escaping @MainActor @Sendable () -> Void
  ) -> ObserverRegistration {
    add(.didExecute { _ in MainActor.assumeIsolated(block) }, at: .mainActor)
  }

  /// Calls `block` on the main actor once when the procedure was cancelled. The override has been
  /// called before.
  @inlinable @discardableResult
  public func addDidCancelBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(
      .didCancel { procedure, errors in MainActor.assumeIsolated { block(procedure, errors) } },
      at: .mainActor)
  }

  /// Calls `block` on the main actor once when the procedure was cancelled.
  @inlinable @discardableResult
  public func addDidCancelBlockObserver(
    _ block: @escaping @MainActor @Sendable () -> Void
  ) -> ObserverRegistration {
    add(.didCancel { _, _ in MainActor.assumeIsolated(block) }, at: .mainActor)
  }

  /// Calls `block` on the main actor when the procedure is about to finish. Keep `pendingFinish` to
  /// hold it back.
  @inlinable @discardableResult
  public func addWillFinishBlockObserver(
    _ block:
      @escaping @MainActor @Sendable (
        _ procedure: Self, _ errors: [any Error], _ pendingFinish: PendingEvent
      ) -> Void
  ) -> ObserverRegistration {
    add(
      .willFinish { procedure, errors, pending in
        MainActor.assumeIsolated { block(procedure, errors, pending) }
      }, at: .mainActor)
  }

  /// Calls `block` on the main actor when the procedure is about to finish.
  @inlinable @discardableResult
  public func addWillFinishBlockObserver(
    _ block: @escaping @MainActor @Sendable () -> Void
  ) -> ObserverRegistration {
    add(.willFinish { _, _, _ in MainActor.assumeIsolated(block) }, at: .mainActor)
  }

  /// Calls `block` on the main actor when the procedure has finished. Its dependents start
  /// afterwards.
  @inlinable @discardableResult
  public func addDidFinishBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(
      .didFinish { procedure, errors in MainActor.assumeIsolated { block(procedure, errors) } },
      at: .mainActor)
  }

  /// Calls `block` on the main actor when the procedure has finished.
  @inlinable @discardableResult
  public func addDidFinishBlockObserver(
    _ block: @escaping @MainActor @Sendable () -> Void
  ) -> ObserverRegistration {
    add(.didFinish { _, _ in MainActor.assumeIsolated(block) }, at: .mainActor)
  }

  /// Calls `block` on the main actor before the procedure adds another to its queue, or a child.
  @inlinable @discardableResult
  public func addWillAddProcedureBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self, _ added: Procedure) -> Void
  ) -> ObserverRegistration {
    add(
      .willAdd { procedure, added in MainActor.assumeIsolated { block(procedure, added) } },
      at: .mainActor)
  }

  /// Calls `block` on the main actor before the procedure adds another to its queue, or a child.
  @inlinable @discardableResult
  public func addWillAddProcedureBlockObserver(
    _ block: @escaping @MainActor @Sendable () -> Void
  ) -> ObserverRegistration {
    add(.willAdd { _, _ in MainActor.assumeIsolated(block) }, at: .mainActor)
  }

  /// Calls `block` on the main actor after the procedure added another to its queue, or a child.
  @inlinable @discardableResult
  public func addDidAddProcedureBlockObserver(
    _ block: @escaping @MainActor @Sendable (_ procedure: Self, _ added: Procedure) -> Void
  ) -> ObserverRegistration {
    add(
      .didAdd { procedure, added in MainActor.assumeIsolated { block(procedure, added) } },
      at: .mainActor)
  }

  /// Calls `block` on the main actor after the procedure added another to its queue, or a child.
  @inlinable @discardableResult
  public func addDidAddProcedureBlockObserver(
    _ block: @escaping @MainActor @Sendable () -> Void
  ) -> ObserverRegistration {
    add(.didAdd { _, _ in MainActor.assumeIsolated(block) }, at: .mainActor)
  }
}

public import Dispatch

/// What `Procedure` and every subclass of it is: lets extensions speak of the subclass as `Self`.
public protocol ProcedureProtocol: Procedure {}

extension Procedure: ProcedureProtocol {}

// Each of these adds a closure that is called in the procedure's turns, in the order of adding.
// `synchronizedWith` has it called on a Dispatch queue instead; the turn waits for it by message.
// The closure gets the procedure as its own type and so need not capture it. (The cast cannot fail:
// the closure is only ever called with the procedure that it was added to.)
extension ProcedureProtocol {
  /// Calls `block` when the procedure is about to execute. Keep `pendingExecute` to hold it back.
  @inlinable @discardableResult
  public func addWillExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ pendingExecute: PendingEvent) -> Void
  ) -> ObserverRegistration {
    add(
      .willExecute { procedure, pending in block(procedure as! Self, pending) },
      synchronizedWith: queue)
  }

  /// Calls `block` when `execute()` has returned. The work may go on asynchronously.
  @inlinable @discardableResult
  public func addDidExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    add(.didExecute { procedure in block(procedure as! Self) }, synchronizedWith: queue)
  }

  /// Calls `block` once when the procedure was cancelled, after `procedureDidCancel(withErrors:)`.
  @inlinable @discardableResult
  public func addDidCancelBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(
      .didCancel { procedure, errors in block(procedure as! Self, errors) }, synchronizedWith: queue
    )
  }

  /// Calls `block` when the procedure is about to finish. Keep `pendingFinish` to hold it back.
  @inlinable @discardableResult
  public func addWillFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block:
      @escaping @Sendable (
        _ procedure: Self, _ errors: [any Error], _ pendingFinish: PendingEvent
      ) -> Void
  ) -> ObserverRegistration {
    add(
      .willFinish { procedure, errors, pending in block(procedure as! Self, errors, pending) },
      synchronizedWith: queue)
  }

  /// Calls `block` when the procedure has finished, before its dependents start.
  @inlinable @discardableResult
  public func addDidFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(
      .didFinish { procedure, errors in block(procedure as! Self, errors) }, synchronizedWith: queue
    )
  }

  /// Calls `block` before the procedure adds another to its queue, or a child.
  @inlinable @discardableResult
  public func addWillAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ added: Procedure) -> Void
  ) -> ObserverRegistration {
    add(.willAdd { procedure, added in block(procedure as! Self, added) }, synchronizedWith: queue)
  }

  /// Calls `block` after the procedure added another to its queue, or a child.
  @inlinable @discardableResult
  public func addDidAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ added: Procedure) -> Void
  ) -> ObserverRegistration {
    add(.didAdd { procedure, added in block(procedure as! Self, added) }, synchronizedWith: queue)
  }
}

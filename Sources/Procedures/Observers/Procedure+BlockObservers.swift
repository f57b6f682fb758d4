public import Dispatch

/// What `Procedure` and every subclass of it is: lets extensions speak of the subclass as `Self`.
public protocol ProcedureProtocol: Procedure {}

extension Procedure: ProcedureProtocol {}

// Each of these adds a closure that is called in the procedure's turns, in the order of adding.
// `synchronizedWith` has it called on a Dispatch queue instead; the turn waits for it by message.
// The closure gets the procedure as its own type and so need not capture it.
extension ProcedureProtocol {
  /// Calls `block` when the procedure is about to execute. Keep `pendingExecute` to hold it back.
  @inlinable @discardableResult
  public func addWillExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ pendingExecute: PendingEvent) -> Void
  ) -> ObserverRegistration {
    add(BlockObserverEntry(.willExecute(block), queue: queue))
  }

  /// Calls `block` when `execute()` has returned. The work may go on asynchronously.
  @inlinable @discardableResult
  public func addDidExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    add(BlockObserverEntry(.didExecute(block), queue: queue))
  }

  /// Calls `block` once when the procedure was cancelled, after `procedureDidCancel(withErrors:)`.
  @inlinable @discardableResult
  public func addDidCancelBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(BlockObserverEntry(.didCancel(block), queue: queue))
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
    add(BlockObserverEntry(.willFinish(block), queue: queue))
  }

  /// Calls `block` when the procedure has finished, before its dependents start.
  @inlinable @discardableResult
  public func addDidFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(BlockObserverEntry(.didFinish(block), queue: queue))
  }

  /// Calls `block` before the procedure adds another to its queue, or a child.
  @inlinable @discardableResult
  public func addWillAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ added: Procedure) -> Void
  ) -> ObserverRegistration {
    add(BlockObserverEntry(.willAdd(block), queue: queue))
  }

  /// Calls `block` after the procedure added another to its queue, or a child.
  @inlinable @discardableResult
  public func addDidAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ added: Procedure) -> Void
  ) -> ObserverRegistration {
    add(BlockObserverEntry(.didAdd(block), queue: queue))
  }
}

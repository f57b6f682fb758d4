public import Dispatch

/// What `Procedure` and every subclass of it is: lets extensions speak of the subclass as `Self`.
public protocol ProcedureProtocol: Procedure {}

extension Procedure: ProcedureProtocol {}

// Each of these adds a closure that is called in the procedure's turns, in the order of adding.
// `synchronizedWith` has it called on a Dispatch queue instead; the turn waits for it by message.
// The closure gets the procedure as its own type and so need not capture it.
extension ProcedureProtocol {
  /// Calls `block` when the procedure is about to execute. Keep `pendingExecute` to hold it back.
  @discardableResult
  public func addWillExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ pendingExecute: PendingEvent) -> Void
  ) -> ObserverRegistration {
    add(observer: WillExecuteObserver(synchronizedWith: queue, willExecute: block))
  }

  /// Calls `block` when `execute()` has returned. The work may go on asynchronously.
  @discardableResult
  public func addDidExecuteBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self) -> Void
  ) -> ObserverRegistration {
    add(observer: DidExecuteObserver(synchronizedWith: queue, didExecute: block))
  }

  /// Calls `block` once when the procedure was cancelled, after `procedureDidCancel(withErrors:)`.
  @discardableResult
  public func addDidCancelBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(observer: DidCancelObserver(synchronizedWith: queue, didCancel: block))
  }

  /// Calls `block` when the procedure is about to finish. Keep `pendingFinish` to hold it back.
  @discardableResult
  public func addWillFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block:
      @escaping @Sendable (
        _ procedure: Self, _ errors: [any Error], _ pendingFinish: PendingEvent
      ) -> Void
  ) -> ObserverRegistration {
    add(observer: WillFinishObserver(synchronizedWith: queue, willFinish: block))
  }

  /// Calls `block` when the procedure has finished, before its dependents start.
  @discardableResult
  public func addDidFinishBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ errors: [any Error]) -> Void
  ) -> ObserverRegistration {
    add(observer: DidFinishObserver(synchronizedWith: queue, didFinish: block))
  }

  /// Calls `block` before the procedure adds another to its queue, or a child.
  @discardableResult
  public func addWillAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ added: Procedure) -> Void
  ) -> ObserverRegistration {
    add(observer: WillAddProcedureObserver(synchronizedWith: queue, willAdd: block))
  }

  /// Calls `block` after the procedure added another to its queue, or a child.
  @discardableResult
  public func addDidAddProcedureBlockObserver(
    synchronizedWith queue: DispatchQueue? = nil,
    _ block: @escaping @Sendable (_ procedure: Self, _ added: Procedure) -> Void
  ) -> ObserverRegistration {
    add(observer: DidAddProcedureObserver(synchronizedWith: queue, didAdd: block))
  }
}

public import Dispatch
internal import ProcedurePrimitives

/// An observer that calls a closure when a procedure was cancelled.
///
/// ```swift
/// upload.add(observer: DidCancelObserver { upload, errors in print("\(upload.name) stops") })
/// ```
///
/// It does the same as `addDidCancelBlockObserver`, as a value. With `P` as `Procedure` it observes
/// any procedure. For another type the compiler lets you add it only to procedures of that type.
public struct DidCancelObserver<P: Procedure>: Sendable {
  /// The queue that calls the closure; nil for the procedure's worker.
  public let eventQueue: DispatchQueue?
  let block: @Sendable (P, [any Error]) -> Void

  /// Makes an observer.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    didCancel block: @escaping @Sendable (_ procedure: P, _ errors: [any Error]) -> Void
  ) {
    eventQueue = queue
    self.block = block
  }
}

extension DidCancelObserver: ProcedureObserver where P == Procedure {
  /// The only event that it receives.
  public var events: ProcedureEvents { .didCancel }

  /// Calls the closure.
  public func did(cancel procedure: Procedure, withErrors errors: [any Error]) {
    block(procedure, errors)
  }
}

extension ProcedureProtocol {
  /// Adds an observer of the cancel of procedures of this type. See `add(observer:)`.
  @discardableResult
  public func add(observer: DidCancelObserver<Self>) -> ObserverRegistration {
    addDidCancelBlockObserver(synchronizedWith: observer.eventQueue, observer.block)
  }

  /// Unavailable: the observer is for another type of procedure.
  @available(
    *, unavailable,
    message: "this observer is for another type of procedure, and would never be called"
  )
  @discardableResult
  public func add<Other: Procedure>(observer: DidCancelObserver<Other>) -> ObserverRegistration {
    unavailableName()
  }
}

public import Dispatch
internal import ProcedurePrimitives
public import Procedures

// ProcedureKit's observers of one event, as values. Here `add…BlockObserver { … }` does the same,
// with the procedure's own type. `BlockObserver` is a value that observes any events.

/// Unavailable: see the message.
@available(*, unavailable, message: "write addWillExecuteBlockObserver { … }")
public struct WillExecuteObserver<P: Procedure>: ProcedureObserver {
  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    willExecute block: @escaping @Sendable (P, PendingEvent) -> Void
  ) { unavailableName() }

  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    willExecute block: @escaping @Sendable (Procedure, PendingEvent) -> Void
  ) where P == Procedure { unavailableName() }
}

/// Unavailable: see the message.
@available(*, unavailable, message: "write addDidExecuteBlockObserver { … }")
public struct DidExecuteObserver<P: Procedure>: ProcedureObserver {
  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    didExecute block: @escaping @Sendable (P) -> Void
  ) { unavailableName() }

  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    didExecute block: @escaping @Sendable (Procedure) -> Void
  ) where P == Procedure { unavailableName() }
}

/// Unavailable: see the message.
@available(*, unavailable, message: "write addWillFinishBlockObserver { … }")
public struct WillFinishObserver<P: Procedure>: ProcedureObserver {
  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    willFinish block: @escaping @Sendable (P, [any Error], PendingEvent) -> Void
  ) { unavailableName() }

  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    willFinish block: @escaping @Sendable (Procedure, [any Error], PendingEvent) -> Void
  ) where P == Procedure { unavailableName() }
}

/// Unavailable: see the message.
@available(*, unavailable, message: "write addDidFinishBlockObserver { … }")
public struct DidFinishObserver<P: Procedure>: ProcedureObserver {
  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    didFinish block: @escaping @Sendable (P, [any Error]) -> Void
  ) { unavailableName() }

  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    didFinish block: @escaping @Sendable (Procedure, [any Error]) -> Void
  ) where P == Procedure { unavailableName() }
}

/// Unavailable: see the message.
@available(*, unavailable, message: "write addWillAddProcedureBlockObserver { … }")
public struct WillAddProcedureObserver<P: Procedure>: ProcedureObserver {
  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    willAdd block: @escaping @Sendable (P, Procedure) -> Void
  ) { unavailableName() }

  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    willAdd block: @escaping @Sendable (Procedure, Procedure) -> Void
  ) where P == Procedure { unavailableName() }
}

/// Unavailable: see the message.
@available(*, unavailable, message: "write addDidAddProcedureBlockObserver { … }")
public struct DidAddProcedureObserver<P: Procedure>: ProcedureObserver {
  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    didAdd block: @escaping @Sendable (P, Procedure) -> Void
  ) { unavailableName() }

  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    didAdd block: @escaping @Sendable (Procedure, Procedure) -> Void
  ) where P == Procedure { unavailableName() }
}

/// Unavailable: see the message.
@available(*, unavailable, message: "write addWillAddProcedureBlockObserver { … }")
public struct WillAddOperationObserver<P: Procedure>: ProcedureObserver {
  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    willAddOperation block: @escaping @Sendable (P, Procedure) -> Void
  ) { unavailableName() }

  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    willAddOperation block: @escaping @Sendable (Procedure, Procedure) -> Void
  ) where P == Procedure { unavailableName() }
}

/// Unavailable: see the message.
@available(*, unavailable, message: "write addDidAddProcedureBlockObserver { … }")
public struct DidAddOperationObserver<P: Procedure>: ProcedureObserver {
  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    didAddOperation block: @escaping @Sendable (P, Procedure) -> Void
  ) { unavailableName() }

  /// Unavailable: see the message.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    didAddOperation block: @escaping @Sendable (Procedure, Procedure) -> Void
  ) where P == Procedure { unavailableName() }
}

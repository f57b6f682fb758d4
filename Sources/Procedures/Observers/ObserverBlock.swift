public import Dispatch

/// A closure for one event of a procedure, which it gets as its own type.
@usableFromInline
enum ObserverBlock<P: Procedure>: Sendable {
  case willExecute(@Sendable (P, PendingEvent) -> Void)
  case didExecute(@Sendable (P) -> Void)
  case didCancel(@Sendable (P, [any Error]) -> Void)
  case willFinish(@Sendable (P, [any Error], PendingEvent) -> Void)
  case didFinish(@Sendable (P, [any Error]) -> Void)
  case willAdd(@Sendable (P, Procedure) -> Void)
  case didAdd(@Sendable (P, Procedure) -> Void)

  var event: ProcedureEvents {
    switch self {
    case .willExecute: .willExecute
    case .didExecute: .didExecute
    case .didCancel: .didCancel
    case .willFinish: .willFinish
    case .didFinish: .didFinish
    case .willAdd: .willAdd
    case .didAdd: .didAdd
    }
  }
}

/// Where an observer is called.
@usableFromInline
enum ObserverPlace: Sendable {
  /// On the worker that runs the procedure's turn.
  case worker
  case queue(DispatchQueue)
  case mainActor

  @usableFromInline
  init(_ queue: DispatchQueue?) {
    self = queue.map(ObserverPlace.queue) ?? .worker
  }
}

/// A closure for one event of a procedure.
@usableFromInline
enum ObserverBlock: Sendable {
  case willExecute(@Sendable (Procedure, PendingEvent) -> Void)
  case didExecute(@Sendable (Procedure) -> Void)
  case didCancel(@Sendable (Procedure, [any Error]) -> Void)
  case willFinish(@Sendable (Procedure, [any Error], PendingEvent) -> Void)
  case didFinish(@Sendable (Procedure, [any Error]) -> Void)
  case willAdd(@Sendable (Procedure, Procedure) -> Void)
  case didAdd(@Sendable (Procedure, Procedure) -> Void)

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

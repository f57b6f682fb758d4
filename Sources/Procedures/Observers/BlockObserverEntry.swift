/// The place of a closure. It receives one event, and no other.
@usableFromInline
final class BlockObserverEntry<P: Procedure>: ObserverEntry, @unchecked Sendable {
  @safe @exclusivity(unchecked) private var block: ObserverBlock<P>?

  @usableFromInline
  init(_ block: ObserverBlock<P>, at place: ObserverPlace) {
    self.block = block
    super.init(block.event, at: place)
  }

  override func letGo() { block = nil }

  override func tell(
    _ event: ProcedureEvents, of procedure: Procedure, adding added: Procedure?
  ) {
    // It was added to this procedure, as a closure for what this procedure is.
    let target = unsafe unsafeDowncast(procedure, to: P.self)
    switch block {
    case .willExecute(let block): offer(.execute, of: procedure) { block(target, $0) }
    case .didExecute(let block): block(target)
    case .didCancel(let block): block(target, procedure.cancelErrors)
    case .willFinish(let block):
      offer(.finish, of: procedure) { block(target, procedure.errors, $0) }
    case .didFinish(let block): block(target, procedure.errors)
    case .willAdd(let block), .didAdd(let block): if let added { block(target, added) }
    case nil: break
    }
  }
}

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

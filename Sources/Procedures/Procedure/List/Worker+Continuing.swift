internal import ProcedurePrimitives

extension Worker {
  /// Goes on with a turn that is held for the caller, and then with whatever else there is.
  func goOn(withTurnOf procedure: Procedure) {
    var stretch = context.stretch
    stretch.advance()
    guard list.context === context, !stretch.isOver else { return list.requestTurn(of: procedure) }
    run(.turn(of: procedure), for: stretch)
  }

  /// A worker's continuation in another list.
  enum Continuation {
    /// The turn of a group whose last child this was: it is held for the worker.
    case turn(of: Procedure)
    /// The children of a group that has begun, who wait for it.
    case children(ReadyList)
  }

  /// Runs that, and then whatever else there is in that list, unless the stretch is over.
  func goOn(with next: Continuation, _ stretch: inout WorkerStretch) -> Continuation? {
    switch next {
    case .turn(let group):
      let list = group.listForTurns
      if list.context === context, !stretch.isOver {
        return Worker(list: list, context: context).drain(from: .turn(of: group), &stretch)
      }
      list.requestTurn(of: group)
    case .children(let list):
      let listContext = list.contextNow
      if listContext !== context || stretch.isOver {
        Self.submit(for: list, on: listContext)
      } else if let first = list.takeFirst(on: context) {
        return Worker(list: list, context: context).drain(from: first, &stretch)
      }
    }
    return nil
  }
}

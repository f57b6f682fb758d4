internal import ProcedurePrimitives

extension Procedure {
  /// Calls the observers of a step, and then the queue's delegate, if it is one for that.
  ///
  /// Not inlined: most steps have neither observers nor a delegate.
  ///
  /// - Returns: false if the turn waits for a callback on another queue.
  @inline(never)
  final func tell(
    _ next: NextStep, _ detail: inout NextStep.Detail, on list: ReadyList
  ) -> Bool {
    var event = next.events
    if next.isObserved, let entry = detail.takeOnlyEntry(for: event) {
      entry.deliverOnWorker(event, of: self)
    } else if next.isObserved, var delivery = detail.delivery(of: event) {
      detail = .none
      event = delivery.events
      while true {
        guard delivery.run(for: self) else { return false }
        guard delivery.events == .willAdd, let production = delivery.production else { break }
        carryOut(production)
        delivery = delivery.didAdd
      }
    }
    if event == .willFinish || event == .didFinish, list.hasDelegate, read({ $0.isMember }) {
      list.delegate?.tell(event, of: self, errors: errors)
    }
    return true
  }
}

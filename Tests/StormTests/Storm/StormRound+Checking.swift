import Cancellation
import ProcedurePrimitives
import Procedures

/// What is promised, against what was seen.
extension StormRound {
  func check() {
    for node in nodes.withLock({ $0 }) where !node.isNeverAdded { check(node) }
  }

  private func check(_ node: StormNode) {
    let record = node.record.withLock { $0 }
    guard let outcome = record.outcome else { return object("F3: \(node) has no outcome") }
    checkOrder(node, record)
    checkCancel(node, record, outcome)
    checkDependencies(node, record)
    if node.kind == .traced { checkErrors(node, record, outcome) }
    if node.kind == .group { checkChildren(node, record, outcome) }
    if let token = record.token {
      if !holds({ token.isCompleted }) { object("K12: \(node): its token is pending") }
      if token.isCancelled != outcome.isCancelled {
        object("K12: \(node): its token reads cancelled \(token.isCancelled)")
      }
    }
  }

  private func checkOrder(_ node: StormNode, _ record: StormNode.Record) {
    let moments = record.moments.map(\.moment)
    if Set(moments.map(\.rawValue)).count < moments.count {
      object("X1: \(node): something happens twice")
    }
    let life = moments.filter { !$0.isOfCancel }
    if zip(life, life.dropFirst()).contains(where: { $0 > $1 }) { object("X1: \(node): order") }
    if let cancel = moments.firstIndex(where: \.isOfCancel) {
      let after = moments[cancel...]
      if after.contains(where: { $0 == .willExecute || $0 == .execute }) {
        object("C2: \(node) goes on after its cancel")
      }
      let isLate = moments[..<cancel].contains { $0 >= .procedureWillFinish }
      if isLate { object("C5: \(node): cancel after willFinish") }
    }
    if moments.contains(.execute), !moments.contains(.willExecute) {
      object("X1: \(node) executes without a word")
    }
    if !moments.contains(.willFinish) || !moments.contains(.didFinish) {
      object("X1: \(node) finishes without a word")
    }
    let executes = moments.contains(node.kind == .traced ? .execute : .didExecute)
    if executes, node.neverExecutes.isSet { object("C2, D2, X4: \(node) executes") }
  }

  private func checkCancel(
    _ node: StormNode, _ record: StormNode.Record, _ outcome: ProcedureOutcome
  ) {
    let isHeard = record.moments.contains { $0.moment == .didCancel }
    if isHeard != outcome.isCancelled { object("C1: \(node): didCancel and outcome differ") }
    if record.cancelErrors.count > 1 { object("C5: \(node): two cancels count") }
    if !record.cancelErrors.isEmpty, !outcome.isCancelled {
      object("C1: \(node): a cancel is lost")
    }
    if outcome.isCancelled, record.isAccepted != false, node.hasNoCauseOfCancel {
      object("\(node) is cancelled by nobody")
    }
  }

  private func checkDependencies(_ node: StormNode, _ record: StormNode.Record) {
    guard let begin = record.time(of: .willExecute) else { return }
    for dependency in node.dependencies where !dependency.mayBeGone.isSet {
      let other = dependency.node.record.withLock { $0 }
      guard let end = other.time(of: .end), let outcome = other.outcome else { continue }
      if end > begin { object("X2: \(node) begins before \(dependency.node) has ended") }
      if !dependency.requirement.isMet(by: outcome) {
        object("R1: \(node) begins though \(dependency.node) has not done what it requires")
      }
    }
  }

  private func checkErrors(
    _ node: StormNode, _ record: StormNode.Record, _ outcome: ProcedureOutcome
  ) {
    if record.finishErrors.count > 1 { object("F1: \(node): two finishes count") }
    let executes = record.time(of: .execute) != nil
    if executes, record.finishErrors.isEmpty { object("C4: \(node): nobody has finished it") }
    let errors = outcome.errors.map { ($0 as? StormError)?.id }
    let finish = (record.finishErrors.first ?? []).map(Optional.some)
    if !outcome.isCancelled, errors != finish {
      object("C6: \(node): its errors are not those of the finish")
    }
    if let cancel = record.cancelErrors.first, errors != cancel.map(Optional.some) + finish {
      object("C6: \(node): its errors are not those of the cancel, and then those of the finish")
    }
  }

  private func checkChildren(
    _ node: StormNode, _ record: StormNode.Record, _ outcome: ProcedureOutcome
  ) {
    let end = record.time(of: .didFinish) ?? 0
    for child in nodes.withLock({ $0 }) where child.parent === node {
      let childRecord = child.record.withLock { $0 }
      guard childRecord.isAccepted != false else { continue }
      if let childEnd = childRecord.time(of: .end), childEnd > end {
        object("X2: \(node) finishes before its child \(child)")
      }
      if outcome.isSuccess, childRecord.outcome?.isFailure == true {
        object("G7: \(node) succeeds in spite of \(child)")
      }
    }
  }
}

/// What a finished procedure leaves to be done by the worker that ran its last turn.
struct Retirement: Sendable {
  /// Dependents in the same list that wait for nothing else now.
  let ready: ReadyBatch
  /// Who waits for this procedure.
  let waiters: [FinishWaiter]
}

/// Procedures to be made ready in one critical section; no allocation for one.
struct ReadyBatch: Sendable {
  private var first: Procedure?
  private var others: [Procedure] = []

  mutating func append(_ procedure: Procedure) {
    if first == nil { first = procedure } else { others.append(procedure) }
  }

  func forEach(_ body: (Procedure) -> Void) {
    guard let first else { return }
    body(first)
    for procedure in others { body(procedure) }
  }
}

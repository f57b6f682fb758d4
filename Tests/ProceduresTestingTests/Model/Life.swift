import Procedures

/// What is promised of one procedure by itself.
struct Life {
  let isObserved: Bool
  private let item: WorkloadPlan.Item
  private(set) var evaluated: [Int] = []
  /// Nil until it was added.
  var isAccepted: Bool?
  private var steps: [Int] = []
  private var lastState = ProcedureState.initialized
  private var isInExecute = false
  private var didCancelOverride = false
  private var didCancelObserver = false
  private var cancelsThatCount = 0
  private var finishesThatCount = 0
  private var finishErrors: [String] = []
  private var ownCancelErrors: [String]?
  /// What DidCancel was told.
  private(set) var cancelErrors: [String]?

  init(isObserved: Bool, of item: WorkloadPlan.Item) {
    self.isObserved = isObserved
    self.item = item
  }

  var hasStarted: Bool { steps.contains(1) || steps.contains(2) }
  var wasCancelled: Bool { didCancelOverride || didCancelObserver || cancelsThatCount > 0 }
  var hasFailed: Bool { !finishErrors.isEmpty }
  /// The last observer of the finish has been called.
  var isOver: Bool { steps.last == (isObserved ? 8 : 7) }

  private func require(_ condition: Bool, _ promise: String) throws {
    if !condition { throw BrokenPromise(description: promise) }
  }

  mutating func take(_ event: WorkloadEvent, isExact: Bool) throws {
    if isExact {
      try require(event.state >= lastState, "S1: its state goes back from \(lastState)")
      lastState = event.state
    }
    switch event.kind {
    case .willExecute:
      try step(1, event, in: [.started])
      try require(!wasCancelled(isExact), "C2: willExecute after a cancel")
    case .executeBegan:
      try step(2, event, in: [.executing])
      try require(!wasCancelled(isExact), "C2, X4: execute() after a cancel")
      isInExecute = true
    case .executeEnded:
      try step(3, event, in: [.executing])
      isInExecute = false
    case .didExecute: try step(4, event, in: [.executing])
    case .willFinishOverride: try step(5, event, in: [.finishing])
    case .willFinish: try step(6, event, in: [.finishing])
    case .didFinishOverride: try step(7, event, in: [.finished])
    case .didFinish: try step(8, event, in: [.finished])
    case .didCancelOverride(let errors):
      try checkCancel(event, isTold: didCancelOverride || didCancelObserver)
      didCancelOverride = true
      cancelErrors = errors
    case .didCancel(let errors):
      try checkCancel(event, isTold: didCancelObserver)
      try require(!didCancelOverride || cancelErrors == errors, "C6: told of different errors")
      didCancelObserver = true
      cancelErrors = errors
    case .evaluated(let check):
      // The task of an asynchronous one may be on its way.
      try require(
        !wasCancelled(isExact) || item.checks[check].isAsynchronous,
        "D3: a condition is evaluated after a cancel")
      try require(check == 0 || evaluated.last == check - 1, "D1: conditions out of order")
      try require(
        check == 0 || item.checks[check - 1].verdict == .satisfied,
        "D1: evaluated after one that was not satisfied")
      evaluated.append(check)
    case .cancelReturned(let counts, let errors):
      if counts {
        cancelsThatCount += 1
        ownCancelErrors = errors
      }
      try require(cancelsThatCount < 2, "C5: two cancels count")
    case .finishReturned(let counts, let errors):
      if counts {
        finishesThatCount += 1
        finishErrors = errors
      }
      try require(finishesThatCount < 2, "F1: two finishes count")
    case .lateObserverTold:
      try require(event.state == .finished, "O1: told of the finish before it")
    case .sawUncancelledChild:
      try require(false, "G3: told of a cancel before all of it reads cancelled")
    case .added, .queueSuspended, .queueResumed:
      break
    }
  }

  /// In a simulation, from when `cancel` has returned; otherwise from when it was told.
  private func wasCancelled(_ isExact: Bool) -> Bool {
    isExact ? wasCancelled : didCancelOverride || didCancelObserver
  }

  private func checkCancel(_ event: WorkloadEvent, isTold: Bool) throws {
    try require(!isTold, "C5: told of a cancel twice, or out of order")
    try require(!isInExecute, "T1, C4: told of a cancel while execute() runs")
    try require(steps.allSatisfy { $0 < 5 }, "C5: told of a cancel after willFinish")
  }

  private mutating func step(
    _ step: Int, _ event: WorkloadEvent, in states: Set<ProcedureState>
  ) throws {
    try require(states.contains(event.state), "S1: in state \(event.state)")
    try require((steps.last ?? 0) < step, "X1: events out of order, or twice")
    try require(!isInExecute || step == 3, "T1: user code overlaps execute()")
    steps.append(step)
  }

  func checkEnd(_ outcome: ProcedureOutcome) throws {
    let isPlain = item.isPlainGroup
    let always = isPlain ? [6, 8] : isObserved ? [5, 6, 7, 8] : [5, 7]
    try require(steps.filter { $0 > 4 } == always, "X1, F3: finished by steps \(steps)")
    let errors = outcome.errors.map { "\($0)" }
    if case .cancelled = outcome {
      try require(isPlain || didCancelOverride, "C1: cancelled, and the override was not called")
      try require(!isObserved || didCancelObserver, "C1: cancelled, and observers were not told")
      if let ownCancelErrors {
        try require(
          Array(errors.prefix(ownCancelErrors.count)) == ownCancelErrors, "C6: errors of the cancel"
        )
        try require(
          cancelErrors == ownCancelErrors, "C6: DidCancel was told \(cancelErrors ?? [])")
      }
      if !item.isGroup, let cancelErrors {
        try require(errors == cancelErrors + finishErrors, "C6: errors \(errors)")
      }
    } else {
      try require(cancelsThatCount == 0, "C5: a cancel counted, and the outcome is \(outcome)")
      try require(!didCancelOverride && !didCancelObserver, "C5: told of a cancel, but \(outcome)")
      try require(isAccepted != false, "G2: refused, and not cancelled")
      if !item.isGroup { try require(errors == finishErrors, "F1: errors \(errors)") }
    }
    let executed = steps.contains { $0 < 5 && $0 > 1 } || !evaluated.isEmpty || steps.contains(1)
    if case .succeeded = outcome {
      if case .delay = item.kind { return }
      try require(executed || isPlain, "F3: succeeded without having executed")
    }
  }
}

internal import ProcedurePrimitives

/// A deadline that will cancel a token, if nothing else does.
struct NextDeadline: Sendable {
  /// An instant of the continuous clock, or of a test clock.
  let instant: ContinuousClock.Instant
  /// Measured by the deadline's own clock; not negative.
  let timeLeft: Duration

  fileprivate init(_ deadline: CancellationExtras.Deadline) {
    instant = deadline.clock.service.continuousInstant(of: deadline.instant)
    timeLeft = max(deadline.clock.now.duration(to: deadline.instant), .zero)
  }
}

extension CancellationState {
  /// The facts that one state contributes to the answer.
  private struct Look {
    let own: CancellationExtras.Deadline?
    /// Whether the last operand decides, and not the first.
    let needsAll: Bool
    let operands: [CancellationState]

    func combined(with deadlines: [NextDeadline?]) -> NextDeadline? {
      let known = deadlines.compactMap(\.self)
      if needsAll {
        return known.count == deadlines.count ? known.max { $0.timeLeft < $1.timeLeft } : nil
      }
      return (known + [own.map(NextDeadline.init)].compactMap(\.self))
        .min { $0.timeLeft < $1.timeLeft }
    }
  }

  private enum Step {
    case visit(CancellationState)
    case combine(CancellationState, Look)
  }

  /// The deadline that will cancel this token: its own, or one of a token that it depends on.
  ///
  /// 1. A token is combined after all its operands. There is no recursion: a chain may be a hundred
  ///    thousand long.
  /// 2. Each token is visited once; a circle, which no deadline can leave, ends there.
  /// 3. One lock is held at a time. A settled operand does not count: it has cancelled this token,
  ///    or never will.
  func nextDeadline() -> NextDeadline? {
    var visited: Set<CancellationState> = []
    var found: [CancellationState: NextDeadline] = [:]
    var steps = [Step.visit(self)]
    while let step = steps.popLast() {
      switch step {
      case .visit(let state):
        guard visited.insert(state).inserted, let look = state.look() else { continue }
        steps.append(.combine(state, look))
        steps += look.operands.map(Step.visit)
      case .combine(let state, let look):
        found[state] = look.combined(with: look.operands.map { found[$0] })
      }
    }
    return found[self]
  }

  /// Nil once it is settled.
  private func look() -> Look? {
    withMachine { machine in
      guard machine.isPending else { return nil }
      let operands = machine.links.parents.all.compactMap { parent in
        // The operand of `map` or `flatMap`, whose place is a handler, does not decide the token.
        if case .dependent = parent.place, !parent.state.isSettled { parent.state } else { nil }
      }
      var needsAll = false
      if case .all = machine.rule { needsAll = true }
      return Look(own: machine.links.extras?.deadline, needsAll: needsAll, operands: operands)
    }
  }
}

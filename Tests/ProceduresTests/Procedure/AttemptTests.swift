import ProcedureTestSupport
import Testing

@testable import Procedures

/// A worker that comes for an earlier attempt finds nothing to do.
@Suite(.hangLimit) struct AttemptTests {
  // Mutating calls cannot stand inside the macro.
  private func expect(_ value: Bool, _ location: SourceLocation = #_sourceLocation) {
    #expect(value, sourceLocation: location)
  }

  private func pending(withCondition: Bool) -> Life {
    var machine = Life()
    if withCondition { expect(!machine.adds()) }
    #expect(machine.post(.enqueue(waits: 0)) == .ready(withCondition ? .evaluate : .start))
    return machine
  }

  @Test("Q2, L1: a start that is on its way while a dependency comes and goes does not count")
  func staleStart() {
    var machine = pending(withCondition: false)
    let stale = machine.attempt
    expect(machine.dependencyIsAdded())
    expect(machine.starts(machine.attempt) == false)
    expect(machine.dependencyIsDone(.start))
    expect(!machine.starts(stale) && machine.starts(machine.attempt))
  }

  @Test("D1, F3: an evaluation that is on its way while a dependency comes and goes does not count")
  func staleEvaluation() {
    var machine = pending(withCondition: true)
    let stale = machine.attempt
    expect(machine.dependencyIsAdded() && machine.dependencyIsDone(.evaluate))
    expect(!machine.evaluates(stale) && machine.evaluates(machine.attempt))
    expect(!machine.isEvaluating(stale) && machine.isEvaluating(machine.attempt))
  }

  @Test("D1: a prerequisite is waited for, also if a dependency was added meanwhile")
  func brings() {
    for addsDependency in [false, true] {
      var machine = pending(withCondition: true)
      expect(machine.evaluates(machine.attempt))
      _ = machine.post(.beginEvaluating)
      let attempt = machine.attempt
      if addsDependency {
        expect(!machine.dependencyIsAdded() && machine.dependencyIsDone(.evaluate))
      }
      expect(machine.brings(2) == addsDependency)
      expect(!machine.isEvaluating(attempt))
      expect(machine.dependencyIsDone(.waiting) && machine.dependencyIsDone(.evaluate))
    }
  }

  @Test(
    "D1: a condition that is added to a ready procedure begins a new attempt, and to a waiting one none"
  )
  func conditionAdded() {
    var ready = pending(withCondition: false)
    let attempt = ready.attempt
    expect(ready.adds() && ready.attempt != attempt && ready.becomesReady(.evaluate))
    var queued = pending(withCondition: true)
    let same = queued.attempt
    expect(!queued.adds() && queued.attempt == same && queued.evaluates(same))
  }
}

// Mutating calls cannot stand inside the macro.
extension Life {
  fileprivate mutating func adds() -> Bool { post(.conditionAdded) == .wait }
  fileprivate mutating func dependencyIsAdded() -> Bool { post(.dependencyAdded) == .wait }
  fileprivate mutating func brings(_ count: Int) -> Bool { post(.conditionBrings(count)) == .wait }
  fileprivate mutating func becomesReady(_ readiness: Readiness) -> Bool {
    post(.goOn).readiness == readiness
  }
  fileprivate mutating func dependencyIsDone(_ readiness: Readiness) -> Bool {
    post(.dependencyDone).readiness == readiness
  }
  fileprivate mutating func starts(_ attempt: UInt32) -> Bool {
    post(.start(attempt: attempt)) == .turn
  }
  fileprivate mutating func evaluates(_ attempt: UInt32) -> Bool {
    post(.evaluate(attempt: attempt)) == .turn
  }
}

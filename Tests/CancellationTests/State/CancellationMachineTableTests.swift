import ProcedureTestSupport
import ProcedurePrimitives
import Testing

@testable import Cancellation

/// Every event in every phase, cell by cell of the table at the head of the machine.
@Suite(.hangLimit) struct CancellationMachineTableTests {
  @Test("K1, K6: each event does in each phase what the table says")
  func table() throws {
    let table = try MachineTable(
      of: "CancellationStateMachine",
      at: "Sources/Cancellation/State/CancellationStateMachine.swift")
    #expect(table.rows.map(\.event) == MachineEvent.allCases.map(\.rawValue))
    for row in table.rows {
      let event = try #require(MachineEvent(rawValue: row.event))
      #expect(row.cells.map(\.state) == MachinePhase.allCases.map(\.rawValue))
      for (phase, outcome) in zip(MachinePhase.allCases, row.cells.map(\.outcome)) {
        #expect(event.traps(in: phase) == (outcome == "✕"), "\(event) in \(phase)")
        if outcome == "✕" { continue }
        var trial = MachineTrial(in: phase, hasDependent: event.concernsDependents)
        let answer = event.happen(to: &trial)
        let arrow = trial.phase == phase ? answer : "→ \(trial.phase)"
        #expect(arrow == outcome, "\(event) in \(phase)")
      }
    }
  }

  @Test(
    "K1: an event that is impossible in its phase traps", arguments: MachineEvent.allCases,
    MachinePhase.allCases)
  func traps(_ event: MachineEvent, in phase: MachinePhase) async {
    guard event.traps(in: phase) else { return }
    await #expect(processExitsWith: .failure) {
      [event = event as MachineEvent, phase = phase as MachinePhase] in
      var trial = MachineTrial(in: phase, hasDependent: true)
      _ = event.happen(to: &trial)
    }
  }
}

enum MachinePhase: String, CaseIterable, Codable, Sendable { case pending, marked, settled }

/// A machine with a handler, and a dependent if it is about those.
private struct MachineTrial {
  let marking = TreeMarking()
  var machine = CancellationStateMachine()
  private(set) var handler: SlabKey?
  private(set) var dependent: SlabKey?

  init(in phase: MachinePhase, hasDependent: Bool) {
    if case .kept(let key) = machine.register(.cancel {}) { handler = key }
    if hasDependent, case .kept(let key) = machine.addDependent(.child(CancellationState())) {
      dependent = key
    }
    if phase == .pending { return }
    _ = machine.mark(.cancelled(.requested), by: marking)
    if phase == .settled { _ = machine.beginCalls() }
  }

  var phase: MachinePhase {
    switch machine.phase {
    case .pending: .pending
    case .marked: .marked
    case .settled: .settled
    }
  }
}

enum MachineEvent: String, CaseIterable, Codable, Sendable {
  case settle, settleOnly, mark, operand, beginCalls, nextHandler, takeDependents, takeOrphans
  case register, addDependent, unregister, removeDependent

  var concernsDependents: Bool {
    [.takeDependents, .takeOrphans, .removeDependent].contains(self)
  }

  func traps(in phase: MachinePhase) -> Bool {
    switch self {
    case .beginCalls, .takeDependents: phase != .marked
    case .nextHandler, .takeOrphans: phase != .settled
    case .settle, .settleOnly, .mark, .operand, .register, .addDependent, .unregister,
      .removeDependent:
      false
    }
  }

  /// - Returns: what the machine answers, in the table's words.
  fileprivate func happen(to trial: inout MachineTrial) -> String {
    switch self {
    case .settle: word(trial.machine.settle(.notCancelled))
    case .settleOnly: word(trial.machine.settleOnly())
    case .mark: trial.machine.mark(.notCancelled, by: TreeMarking()) ? "marked" : "late"
    case .operand: word(trial.machine.operand(.cancelled(.requested), by: trial.marking))
    case .beginCalls: "\(trial.machine.beginCalls())"
    case .nextHandler: trial.machine.nextHandler().handler == nil ? "nothing" : "taken"
    case .takeDependents:
      trial.machine.takeDependents(toTell: .cancelled(.requested)).isEmpty ? "nothing" : "taken"
    case .takeOrphans: trial.machine.takeOrphans().isEmpty ? "nothing" : "taken"
    case .register: word(trial.machine.register(.cancel {}), late: "call now")
    case .addDependent:
      word(trial.machine.addDependent(.child(CancellationState())), late: "decided")
    case .unregister:
      trial.handler.flatMap { trial.machine.unregister($0) } == nil ? "nothing" : "taken"
    case .removeDependent:
      trial.dependent.flatMap { trial.machine.removeDependent($0) } == nil ? "nothing" : "taken"
    }
  }

  private func word(_ settling: CancellationStateMachine.Settling) -> String {
    switch settling {
    case .late: "late"
    case .settled: "settled"
    case .hasDependents: "refused"
    }
  }

  private func word(_ marking: CancellationStateMachine.Marking) -> String {
    switch marking {
    case .undecided, .markedBefore: "ignored"
    case .marked: "marked"
    case .met: "met"
    }
  }

  private func word(_ admission: CancellationStateMachine.Admission, late: String) -> String {
    switch admission {
    case .kept: "kept"
    case .wait: "wait"
    case .settled: late
    }
  }
}

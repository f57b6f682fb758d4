import ProcedureTestSupport
import Testing

@testable import Procedures

/// The table at the head of the gate: every event in every stage.
@Suite(.hangLimit) struct StartGateTests {
  private static let path = "Sources/Procedures/Procedure/StartGate.swift"

  @Test("D1: each event does in each stage what the table says")
  func table() throws {
    let table = try MachineTable(of: "StartGate", at: Self.path)
    #expect(table.rows.map(\.event) == GateEvent.allCases.map(\.rawValue))
    for row in table.rows {
      let event = try #require(GateEvent(rawValue: row.event))
      #expect(row.cells.map(\.state) == StartGate.Stage.allCases.map { "\($0)" })
      for (stage, outcome) in zip(StartGate.Stage.allCases, row.cells.map(\.outcome)) {
        var gate = StartGate(in: stage)
        #expect(gate.stage == stage && event.traps(in: stage) == (outcome == "✕"))
        if outcome == "✕" { continue }
        let before = gate
        event.happen(to: &gate)
        let marks =
          (gate.attempt == before.attempt ? "" : " +") + (gate.isNoted ? " !" : "")
        let name = gate.stage == stage && marks.isEmpty ? "–" : "\(gate.stage)"
        #expect(name + marks == outcome, "\(event) in \(stage)")
      }
    }
  }

  @Test("D1: an event that is impossible in its stage traps", arguments: GateEvent.allCases)
  func traps(_ event: GateEvent) async {
    for stage in StartGate.Stage.allCases where event.traps(in: stage) {
      await #expect(processExitsWith: .failure) {
        [event = event.rawValue as String, stage = "\(stage)" as String] in
        guard let event = GateEvent(rawValue: event),
          let stage = StartGate.Stage.allCases.first(where: { "\($0)" == stage })
        else { return }
        var gate = StartGate(in: stage)
        event.happen(to: &gate)
      }
    }
  }

  @Test("D1: a procedure does not pass the gate while a dependency is missing")
  func dependencies() {
    for stage in StartGate.Stage.allCases {
      var gate = StartGate(in: stage)
      gate.wait(for: 2)
      #expect(gate.passes() == .waiting && gate.stage == stage && gate.isWaitingForDependencies)
      gate.dependencyFinished()
      #expect(gate.passes() == .waiting && gate.isLastDependency)
      gate.dependencyFinished()
      let passes = stage == .unconditional || stage == .due || stage == .satisfied
      #expect((gate.passes() != .waiting) == passes)
    }
  }

  @Test("D1: a worker that comes for an earlier attempt finds nothing to evaluate, or to start")
  func earlierAttempt() {
    for (stage, event) in [(StartGate.Stage.queued, GateEvent.evaluate), (.ready, .start)] {
      var gate = StartGate(in: stage)
      let attempt = gate.attempt
      _ = gate.dependencyAdded()
      gate.dependencyFinished()
      #expect(gate.passes() != .waiting)
      event.happen(to: &gate, in: attempt)
      #expect(gate.stage == stage && !gate.isNoted)
      event.happen(to: &gate)
      #expect(gate.isNoted)
    }
  }

  @Test("D1: a worker's note for the turn is carried out once, and in its attempt only")
  func noted() {
    for (stage, event, step) in [
      (StartGate.Stage.queued, GateEvent.evaluate, StartGate.Step.evaluate),
      (.evaluating, .answered, .evaluate), (.ready, .start, .start),
      (.satisfiedAndReady, .start, .start),
    ] {
      var gate = StartGate(in: stage)
      #expect(gate.takesStep() == nil)
      event.happen(to: &gate)
      #expect(gate.takesStep() == step)
      #expect(gate.takesStep() == nil)
      event.happen(to: &gate)
      if stage != .queued { #expect(gate.isNoted) }
      _ = gate.dependencyAdded()
      #expect(gate.takesStep() == nil)
    }
    // Answered once more than asked.
    var gate = StartGate(in: .evaluating)
    GateEvent.answered.happen(to: &gate)
    gate.conditionsSatisfied()
    #expect(gate.takesStep() == nil)
  }
}

enum GateEvent: String, CaseIterable, Sendable {
  case dependencyAdded, pass, conditionAdded, exclusionAdded, evaluate, start, answered
  case conditionBrings, conditionsSatisfied

  func happen(to gate: inout StartGate, in attempt: UInt32? = nil) {
    switch self {
    case .dependencyAdded: _ = gate.dependencyAdded()
    case .pass: _ = gate.pass()
    case .conditionAdded: _ = gate.conditionAdded()
    case .exclusionAdded: _ = gate.exclusionAdded()
    case .evaluate: _ = gate.evaluate(attempt ?? gate.attempt)
    case .start: _ = gate.start(attempt ?? gate.attempt)
    case .answered: _ = gate.answered()
    case .conditionBrings: _ = gate.conditionBrings(1)
    case .conditionsSatisfied: gate.conditionsSatisfied()
    }
  }

  func traps(in stage: StartGate.Stage) -> Bool {
    switch self {
    case .conditionBrings: ![.due, .queued, .evaluating].contains(stage)
    case .conditionsSatisfied: stage != .evaluating
    case .dependencyAdded, .pass, .conditionAdded, .exclusionAdded, .evaluate, .start, .answered:
      false
    }
  }
}

extension StartGate {
  /// A gate in that stage, with no dependency missing.
  fileprivate init(in stage: Stage) {
    self.init()
    if stage == .unconditional { return }
    if stage != .ready { _ = conditionAdded() }
    if stage == .due { return }
    _ = pass()
    if stage == .queued || stage == .ready { return }
    _ = evaluate(attempt)
    beginEvaluating()
    if stage == .evaluating { return }
    conditionsSatisfied()
    if stage == .satisfiedAndReady { _ = pass() }
  }

  // A mutating call cannot stand inside the macro.
  fileprivate mutating func passes() -> Readiness { pass() }
  fileprivate mutating func takesStep() -> Step? { takeStep() }
}

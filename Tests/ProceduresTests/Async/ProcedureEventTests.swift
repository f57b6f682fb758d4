import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct ProcedureEventTests {
  private let queue = ProcedureQueue()

  private func name(_ event: ProcedureEvent) -> String {
    switch event {
    case .willExecute: "willExecute"
    case .didExecute: "didExecute"
    case .didCancel(let errors): "didCancel \(errors.count)"
    case .willAdd(let added): "willAdd \(added.name)"
    case .didAdd(let added): "didAdd \(added.name)"
    case .willFinish(let errors): "willFinish \(errors.count)"
    case .didFinish(let errors): "didFinish \(errors.count)"
    }
  }

  private func collect(_ events: ProcedureEventSequence) async -> [String] {
    await events.reduce(into: []) { names, event in names.append(name(event)) }
  }

  @Test("X1: events come in the order in which they happen, and end with the finish")
  func order() async {
    let procedure = TracedProcedure()
    let group = GroupProcedure(procedure)
    let events = (procedure.events, group.events)
    group.add(child: TracedProcedure("late"))
    queue.add(group)
    #expect(
      await collect(events.0) == ["willExecute", "didExecute", "willFinish 0", "didFinish 0"])
    #expect(
      await collect(events.1) == [
        "willExecute", "willAdd p", "didAdd p", "willAdd late", "didAdd late", "didExecute",
        "willFinish 0", "didFinish 0",
      ])
  }

  @Test("O1: a late sequence of events gets the cancel and the finish")
  func late() async {
    let procedure = TracedProcedure()
    procedure.cancel(withError: TestError("e"))
    _ = await queue.run(procedure)
    #expect(await collect(procedure.events) == ["didCancel 1", "didFinish 1"])
  }

  @Test("the sequence ends when the reading task is cancelled, and when the procedure is released")
  func ends() async {
    let procedure = TracedProcedure(end: .whenTold)
    let events = procedure.events
    let reading = Task { await collect(events) }
    reading.cancel()
    #expect(await reading.value.isEmpty)
    let orphaned = { TracedProcedure().events }()
    #expect(await collect(orphaned).isEmpty)
  }
}

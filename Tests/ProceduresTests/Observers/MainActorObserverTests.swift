import Procedures
import ProcedureTestSupport
import Testing

@MainActor private final class Model: MainActorProcedureObserver {
  private(set) var notes: [String] = []

  func note(_ text: String) {
    MainActor.assertIsolated()
    notes.append(text)
  }

  func finished(_ procedure: TracedProcedure, _ errors: [any Error]) { note("method") }

  func observe(_ procedure: TracedProcedure) {
    procedure.addWillExecuteBlockObserver { @MainActor in self.note("will execute") }
    procedure.addDidExecuteBlockObserver { @MainActor procedure in self.note(procedure.name) }
    procedure.addDidCancelBlockObserver { @MainActor _, errors in self.note("\(errors.count)") }
    procedure.addWillFinishBlockObserver { @MainActor _, _, _ in self.note("will finish") }
    procedure.addDidFinishBlockObserver(finished)
  }

  func didAttach(to procedure: Procedure) { note("did attach") }
  func will(execute procedure: Procedure, pendingExecute: PendingEvent) { note("will execute") }
  func did(cancel procedure: Procedure, withErrors errors: [any Error]) { note("did cancel") }
  func did(finish procedure: Procedure, withErrors errors: [any Error]) { note("did finish") }

  func run(on queue: ProcedureQueue) async -> ProcedureOutcome {
    // As the closure of a `Task`, it is on the main actor, and needs no `self`.
    let body = AsyncProcedure {
      MainActor.assertIsolated()
      await Task.yield()
      note("body")
    }
    let value = AsyncResultProcedure { notes.count }
    value.add(dependency: body)
    queue.add(body, value)
    return await value.waitUntilFinished()
  }
}

@Suite(.hangLimit) struct MainActorObserverTests {
  private let queue = ProcedureQueue()

  @Test("closures on the main actor are called there, in order, and the turn waits for them")
  func closures() async {
    let model = Model()
    let procedure = TracedProcedure("p", end: .whenToldOrCancelled)
    let error = TestError("e")
    await model.observe(procedure)
    procedure.addDidExecuteBlockObserver { procedure in procedure.cancel(withError: error) }
    let seen = Recorder<Int>()
    procedure.addDidFinishBlockObserver { seen.note(1) }
    _ = await queue.run(procedure)
    #expect(await model.notes == ["will execute", "p", "1", "will finish", "method"])
    #expect(seen.events == [1])
  }

  @Test("an observer on the main actor gets all events there, and is released")
  func observer() async {
    weak var released: Model?
    let procedure = TracedProcedure(end: .itself)
    do {
      let model = Model()
      released = model
      procedure.add(observer: model)
      _ = await queue.run(procedure)
      #expect(await model.notes == ["did attach", "will execute", "did finish"])
    }
    #expect(await eventually { released == nil })
    #expect(released == nil)
  }

  @Test("bodies that are written on the main actor run there")
  func bodies() async {
    let model = Model()
    #expect(await model.run(on: queue) == .succeeded)
    #expect(await model.notes == ["body"])
  }

  @Test("closures of observers have all of their parameters, or none")
  func noParameters() async {
    let procedure = TracedProcedure("p")
    let seen = Recorder<String>()
    procedure.addWillExecuteBlockObserver { seen.note("1") }
    procedure.addDidExecuteBlockObserver { seen.note("2") }
    procedure.addWillFinishBlockObserver { seen.note("3") }
    procedure.addWillFinishBlockObserver { p, errors, _ in seen.note("\(p.name) \(errors.count)") }
    procedure.addDidFinishBlockObserver { seen.note("4") }
    procedure.addDidFinishBlockObserver {}
    _ = await queue.run(procedure)
    #expect(seen.events == ["1", "2", "3", "p 0", "4"])
  }

  @Test("an observer of a cancel may be for one type, or for any procedure")
  func didCancel() async {
    let procedure = TracedProcedure("p", end: .whenToldOrCancelled)
    let seen = Recorder<String>()
    procedure.add(
      observer: DidCancelObserver { procedure, _ in seen.note("own \(procedure.name)") })
    procedure.add(observer: DidCancelObserver<Procedure> { procedure, _ in seen.note("any") })
    procedure.addDidExecuteBlockObserver { $0.cancel() }
    _ = await queue.run(procedure)
    #expect(seen.events == ["own p", "any"])
  }
}

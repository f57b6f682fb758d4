import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct WrappingTests {
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  @Test("a composed procedure runs its inner one, takes over its errors, and cancels it")
  func composed() {
    let queue = makeQueue()
    let (fine, failing) = (TracedProcedure("fine"), TracedProcedure("e", failure: TestError("e")))
    let endless = TracedProcedure(end: .whenToldOrCancelled)
    let groups = [fine, failing, endless].map { ComposedProcedure($0) }
    queue.add(groups)
    scheduler.run()
    #expect(groups[0].outcome == .succeeded)
    #expect(groups[1].outcome == .failed([TestError("e")]))
    groups[2].cancel()
    scheduler.run()
    #expect(endless.isCancelled && groups[2].isFinished && groups[2].procedure === endless)
  }

  /// What wraps one procedure ends as that does.
  @Test(
    "E2: composed and gated procedures end as the inner one does, with its errors or cancelled without any"
  )
  func transparent() {
    func ends(_ end: @escaping @Sendable (Procedure) throws -> Void) -> [ProcedureOutcome] {
      let queue = makeQueue()
      @Sendable func make() -> BlockProcedure { BlockProcedure { try end($0) } }
      let wrapping: [Procedure] = [
        ComposedProcedure(make()), GatedProcedure(make()) { true },
        ComposedProcedure(GatedProcedure(ComposedProcedure(make())) { true }),
        RetryProcedure(max: 1) { make() },
      ]
      queue.add(wrapping)
      scheduler.run()
      return wrapping.map { $0.outcome! }
    }
    let (error, cancel) = (TestError("e"), TestError("c"))
    #expect(ends { _ in }.allSatisfy { $0 == .succeeded })
    #expect(ends { _ in throw error }.allSatisfy { $0 == .failed([error]) })
    #expect(ends { $0.cancel() }.allSatisfy { $0 == .cancelled([]) })
    #expect(ends { $0.cancel(withError: cancel) }.allSatisfy { $0 == .failed([cancel]) })
    let both = ends {
      $0.cancel(withError: cancel)
      throw error
    }
    #expect(both.allSatisfy { $0 == .failed([cancel, error]) })
  }

  @Test("E2, G8: an error in a group names the wrapper, and another child of that")
  func named() {
    final class Two: ComposedProcedure<TracedProcedure>, @unchecked Sendable {
      override func execute() {
        add(child: TracedProcedure("other", failure: TestError("other")))
        super.execute()
      }
    }
    let queue = makeQueue()
    let composed = Two(TracedProcedure("inner", failure: TestError("inner")))
    composed.name = "composed"
    let group = GroupProcedure(composed)
    queue.add(group)
    scheduler.run()
    #expect(
      composed.outcome?.deep
        == .failed([.error(TestError("inner")), .child("other", TestError("other"))]))
    #expect(
      group.outcome?.deep
        == .failed([.child("composed", TestError("inner")), .child("other", TestError("other"))]))
  }

  @Test(
    "G7: an override of a wrapper that deals with a failure ends it well; it need not call super")
  func override() {
    final class Lenient: ComposedProcedure<TracedProcedure>, @unchecked Sendable {
      override func child(
        _ child: Procedure, willFinishWithErrors errors: [any Error]
      ) -> [any Error] { [] }
    }
    let lenient = Lenient(TracedProcedure(failure: TestError("e")))
    makeQueue().add(lenient)
    scheduler.run()
    #expect(lenient.outcome == .succeeded)
  }

  @Test("R1: a composed procedure hands its input on, and has the inner one's output")
  func values() {
    let queue = makeQueue()
    let source = ResultProcedure { "four" }
    let length = ComposedProcedure(TransformProcedure<String, Int> { $0.count })
    length.injectResult(from: source)
    let target = IdentityProcedure<Int>().injectResult(from: length)
    queue.add(source, length, target)
    scheduler.run()
    #expect(target.input == 4 && length.procedure.input == "four")
  }

  @Test("a gated procedure is cancelled without errors by a closed gate, and runs by an open one")
  func gated() {
    let queue = makeQueue()
    let (opened, closed) = (TracedProcedure("opened"), TracedProcedure("closed"))
    let gates = [GatedProcedure(opened) { true }, GatedProcedure(closed) { false }]
    queue.add(gates)
    scheduler.run()
    #expect(gates[0].outcome == .succeeded)
    #expect(gates[1].outcome == .cancelled([]))
    #expect(!gates[1].failed)
    #expect(closed.outcome == .cancelled([]))
    #expect(opened.trace.events.first == "opened execute")
    #expect(!closed.trace.events.contains("closed execute"))
  }

  @Test("a gate is asked once, after the dependencies, and a throw cancels with the error")
  func gateOrder() {
    let queue = makeQueue()
    let asked = Counter()
    let dependency = TracedProcedure(end: .whenTold)
    let gated = GatedProcedure(ResultProcedure { 1 }) {
      asked.increment()
      return true
    }
    gated.add(dependency: dependency)
    let broken = GatedProcedure(TracedProcedure()) { throw TestError("no key") }
    let cancelled = GatedProcedure(TracedProcedure()) {
      asked.increment()
      return true
    }
    queue.add(gated, broken, cancelled, dependency)
    cancelled.cancel()
    scheduler.run()
    #expect(asked.value == 0)
    dependency.finish()
    scheduler.run()
    #expect(asked.value == 1)
    #expect(broken.outcome == .cancelled([TestError("no key")]))
    #expect(try! gated.output?.get() == 1)
  }

  @Test("F4: the gate is released, asked or not")
  func gateLetsGo() {
    let released = Counter()
    func make() -> Procedure {
      let tracker = Tracker { released.increment() }
      return GatedProcedure(TracedProcedure()) {
        withExtendedLifetime(tracker) {}
        return true
      }
    }
    let procedures = [make(), make()]
    makeQueue().add(procedures)
    procedures[0].cancel()
    scheduler.run()
    #expect(released.value == 2)
    withExtendedLifetime(procedures) {}
  }

  @Test("an IgnoreErrorsProcedure succeeds however its procedure ends, which keeps its own outcome")
  func ignoreErrors() {
    let queue = makeQueue()
    let failing = IgnoreErrorsProcedure(TracedProcedure("e", failure: TestError("e")))
    let cancelled = IgnoreErrorsProcedure(TracedProcedure(end: .whenToldOrCancelled))
    let fine = IgnoreErrorsProcedure(ResultProcedure { 2 })
    let itself = IgnoreErrorsProcedure(TracedProcedure(end: .whenToldOrCancelled))
    queue.add(failing, cancelled, fine, itself)
    scheduler.run()
    cancelled.procedure.cancel(withError: TestError("stop"))
    itself.cancel(withError: TestError("stop"))
    scheduler.run()
    #expect(failing.outcome == .succeeded)
    #expect(failing.procedure.outcome == .failed([TestError("e")]))
    #expect(cancelled.outcome == .succeeded)
    #expect(itself.outcome == .cancelled([TestError("stop")]))
    #expect(try! fine.output?.get() == 2)
  }

  @Test("an IdentityProcedure hands its input on")
  func identity() {
    let identity = IdentityProcedure<Int>()
    identity.input = 3
    makeQueue().add(identity)
    scheduler.run()
    #expect(try! identity.output?.get() == 3)
  }

  @Test("Z2: timeout(after:) cancels with timedOut, and the wrapped procedure as its child")
  func timeout() {
    let clock = TestClock()
    let queue = ProcedureQueue(scheduler: scheduler, clock: clock.clock)
    let endless = TracedProcedure(end: .whenToldOrCancelled)
    let group = ComposedProcedure(endless).timeout(after: .seconds(9)).timeout(after: .seconds(3))
    queue.add(group)
    scheduler.run()
    clock.advance(by: .seconds(3))
    scheduler.run()
    let error = group.errors.first as? ProcedureError
    #expect(error?.code == .timedOut && error?.duration == .seconds(3))
    #expect(endless.isCancelled && group.isFinished && clock.pendingCount == 0)
  }
}

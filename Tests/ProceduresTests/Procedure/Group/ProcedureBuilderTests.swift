import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct ProcedureBuilderTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  private func step(_ name: String, failure: TestError? = nil) -> TracedProcedure {
    TracedProcedure(name, trace: trace, failure: failure)
  }

  private var executed: [String] {
    trace.events.filter { $0.hasSuffix(" execute") }.map { String($0.dropLast(8)) }
  }

  @Test("G1: a builder makes children conditionally, repeatedly, optionally, in order")
  func statements() {
    for isLong in [true, false] {
      let missing: TracedProcedure? = nil
      let present: TracedProcedure? = step("present")
      let group = GroupProcedure {
        step("first")
        if isLong { step("long") }
        if isLong {
          step("either")
        } else {
          step("or")
          step("else")
        }
        for number in 1...2 { step("\(number)") }
        missing
        present
        [step("a"), step("b")]
        switch isLong {
        case true: step("true")
        case false: step("false")
        }
      }
      let names = group.children.map(\.name)
      #expect(
        names
          == (isLong
            ? ["first", "long", "either", "1", "2", "present", "a", "b", "true"]
            : ["first", "or", "else", "1", "2", "present", "a", "b", "false"]))
      makeQueue().add(group)
      scheduler.run()
      #expect(group.outcome == .succeeded)
    }
    #expect(GroupProcedure {}.children.isEmpty)
  }

  @Test("a throwing builder throws, and statements without a procedure are executed")
  func throwing() throws {
    func make() throws -> TracedProcedure { throw TestError("e") }
    #expect(throws: TestError("e")) { try GroupProcedure { try make() } }
    let (first, second) = (step("first"), step("second"))
    let group = GroupProcedure {
      first
      second
      second.add(dependency: first)
    }
    #expect(group.children == [first, second] && second.dependencies == [first])
  }

  @Test("then() has each step wait for all of the step before, and makes each procedure one child")
  func then() {
    let (a, b, c, d, e) = (step("a"), step("b"), step("c"), step("d"), step("e"))
    let group = GroupProcedure {
      e
      a.then(b, c).then(d)
      b.then(e)
    }
    #expect(group.children == [e, a, b, c, d])
    #expect(b.dependencies == [a] && c.dependencies == [a])
    #expect(Set(d.dependencies) == [b, c] && e.dependencies == [b])
    makeQueue().add(group)
    scheduler.run()
    #expect(executed == ["a", "b", "c", "e", "d"] || executed == ["a", "b", "c", "d", "e"])
    #expect(group.isFinished)
  }

  @Test("then() orders procedures; with a requirement it is about the outcome too")
  func requirement() {
    let queue = makeQueue()
    let (plain, required) = (step("plain"), step("required"))
    let broken = [step("1", failure: TestError("e")), step("2", failure: TestError("e"))]
    queue.add(broken[0].then(plain))
    queue.add(broken[1].then(required, requiring: .success))
    scheduler.run()
    #expect(plain.outcome == .succeeded)
    #expect(required.isCancelled)
    #expect(executed == ["1", "2", "plain"])
  }

  @Test("a sequence made by then is added to a queue or group like any other")
  func sequences() {
    let group = GroupProcedure()
    group.add(children: step("1").then(step("2")))
    #expect(group.children.map(\.name) == ["1", "2"])
    #expect(Array(step("1").then().then(step("2")).then()).map(\.name) == ["1", "2"])
    let (compiled, link) = ([step("a"), step("b")], step("link"))
    let build = step("configure").then(compiled).then([]).then([link], requiring: .success)
    #expect(Array(build).map(\.name) == ["configure", "a", "b", "link"])
    #expect(Set(link.dependencies) == Set(compiled as [Procedure]))
  }
}

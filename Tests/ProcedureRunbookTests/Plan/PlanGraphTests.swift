import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("The graph of a plan", .hangLimit)
struct PlanGraphTests {
  @Test("a cycle is named in running order, from the member that the plan names first")
  func cycle() {
    expectCycle(
      [step("x"), step("a", after: ["c"]), step("b", after: ["a", "x"]), step("c", after: ["b"])],
      ["a", "b", "c", "a"])
  }

  @Test("a step after its own group is a cycle, and so are groups that wait for each other")
  func cyclesOfGroups() {
    expectCycle([step("a", after: ["g"], group: "g")], ["a", "g", "a"])
    expectCycle(
      [step("a", after: ["h"], group: "g"), step("b", after: ["g"], group: "h")],
      ["a", "g", "b", "h", "a"])
  }

  @Test("steps of two groups may wait for each other's steps crosswise")
  func crosswise() throws {
    let plan = try Plan(steps: [
      step("a1", group: "a"), step("b1", group: "b"),
      step("a2", after: ["b1"], group: "a"), step("b2", after: ["a1"], group: "b"),
    ])
    #expect(PlanGraph(plan).order == ["a1", "b1", "a2", "b2"])
  }

  @Test("the order puts everything behind what it is after, else keeps the plan's")
  func order() throws {
    let plan = try Plan(steps: [
      step("last", after: ["g"]), step("a", after: ["b"], group: "g"), step("b"), step("c"),
    ])
    #expect(PlanGraph(plan).order == ["b", "a", "last", "c"])
  }

  @Test("a chain of 20,000 steps overflows no stack, as a cycle either")
  func longChain() throws {
    let chain = (0..<20_000).reversed().map { step("\($0)", after: $0 == 0 ? [] : ["\($0 - 1)"]) }
    #expect(PlanGraph(try Plan(steps: chain)).order.first == "0")
    let circle = [step("0", after: ["19999"])] + chain.dropLast()
    let error = #expect(throws: PlanError.self) { try Plan(steps: circle) }
    guard case .cycle(let names)? = error?.problem else { return #expect(Bool(false)) }
    #expect(names.count == 20_001)
  }

  @Test("the flowchart has a frame for each group, an arrow for each 'after', and quoted names")
  func mermaid() throws {
    let plan = try Plan(steps: [
      step("a"), step("b \"2\"", after: ["a"], group: "g"), step("c", after: ["g"]),
    ])
    #expect(
      plan.mermaid == """
        flowchart LR
          subgraph n3["g"]
            n1["b #quot;2#quot;"]
          end
          n0["a"]
          n2["c"]
          n0 --> n1
          n3 --> n2
        """)
  }

  @Test("the listing numbers the steps in running order and shows what they run")
  func listing() throws {
    let plan = try Plan(steps: [step("a", after: ["b"]), step("b", group: "g")])
    #expect(
      try DryRun(plan, of: plan, RunJournals(in: ".", plan: "-"), Options([])).text == """
        1. b [g]
           $ true
        2. a, after b
           $ true
        """)
  }

  @Test(
    "a step that may not be needed has six corners; a dotted line joins steps that exclude each other"
  )
  func conditionsInMermaid() throws {
    var steps = ["a", "b", "c"].map { step($0) }
    for index in 0..<3 { steps[index].exclusive = ["the \"disk\""] }
    steps[0].onlyIf = "true"
    steps[2].unless = "true"
    #expect(
      try Plan(steps: steps).mermaid == """
        flowchart LR
          n0{{"a"}}
          n1["b"]
          n2{{"c"}}
          n0 -. "the #quot;disk#quot;" .- n1
          n1 -. "the #quot;disk#quot;" .- n2
        """)
  }

  @Test("the listing says what a step excludes others over, and when it is needed")
  func conditionsInListing() throws {
    var step = step("a")
    step.exclusive = ["disk", "net"]
    step.onlyIf = "test -e x\ntest -e y"
    step.unless = "test -e z"
    let plan = try Plan(steps: [step])
    #expect(
      try DryRun(plan, of: plan, RunJournals(in: ".", plan: "-"), Options([])).text == """
        1. a, exclusive: disk, net
           only if: test -e x
           only if: test -e y
           unless: test -e z
           $ true
        """)
  }

  private func step(_ name: Name, after: [Name] = [], group: Name? = nil) -> Step {
    Step(name: name, run: "true", after: after, group: group)
  }

  private func expectCycle(
    _ steps: [Step], _ names: [Name], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: PlanError.self, sourceLocation: sourceLocation) {
      try Plan(steps: steps)
    }
    #expect(error?.problem == .cycle(names), sourceLocation: sourceLocation)
  }
}

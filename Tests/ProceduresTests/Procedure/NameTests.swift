import Procedures
import ProcedureTestSupport
import Testing

/// A name is given when a procedure is made, as the first argument, wherever one is made.
@Suite(.hangLimit) struct NameTests {
  @Test("every ready-made procedure takes a name as the first argument")
  func first() {
    let instant = ContinuousClock.now
    let sources = [ResultProcedure { 1 }]
    let mixed: [any OutputProcedure<Int>] = [ResultProcedure { 1 }, IdentityProcedure<Int>()]
    let made: [Procedure] = [
      BlockProcedure(name: "n") {},
      BlockProcedure(name: "n") { _ in },
      ResultProcedure(name: "n") { 1 },
      TransformProcedure<Int, Int>(name: "n") { $0 },
      DelayProcedure(name: "n", by: .seconds(1)),
      DelayProcedure(name: "n", until: instant),
      IdentityProcedure<Int>(name: "n"),
      AsyncProcedure(name: "n") { await Task.yield() },
      AsyncProcedure(name: "n") { procedure in procedure.report(fractionCompleted: 1) },
      AsyncProcedure(name: "n", .callback) { finish in finish() },
      AsyncResultProcedure(name: "n") { 1 },
      AsyncResultProcedure<Int>(name: "n", .callback) { finish in finish(.success(1)) },
      AsyncTransformProcedure<Int, Int>(name: "n") { input in input },
      AsyncTransformProcedure<Int, Int>(name: "n") { procedure, input in
        procedure.isCancelled ? 0 : input
      },
      AsyncTransformProcedure<Int, Int>(name: "n", .callback) { $1(.success($0)) },
      MainActorProcedure(name: "n") {},
      MapProcedure(name: "n", source: [1]) { $0 },
      FlatMapProcedure(name: "n", source: [1]) { [$0] },
      FilterProcedure(name: "n", source: [1]) { $0 > 0 },
      ReduceProcedure(name: "n", source: [1], initial: 0) { $0 + $1 },
      BatchProcedure(name: "n") { IdentityProcedure<Int>() },
      GatherProcedure(name: "n", sources), GatherProcedure(name: "n", [ResultProcedure { 1 }]),
      GatherProcedure(name: "n", mixed),
      GroupProcedure(name: "n"),
      GroupProcedure(name: "n", BlockProcedure {}, BlockProcedure {}),
      GroupProcedure(name: "n", children: [BlockProcedure {}]),
      GroupProcedure(name: "n", children: Set([BlockProcedure {}])),
      GroupProcedure(name: "n") { BlockProcedure {} },
      ComposedProcedure(name: "n", BlockProcedure {}),
      GatedProcedure(name: "n", BlockProcedure {}) { true },
      IgnoreErrorsProcedure(name: "n", BlockProcedure {}),
      RepeatProcedure(name: "n", max: 1) { BlockProcedure {} },
      RetryProcedure(name: "n", max: 1) { BlockProcedure {} },
    ]
    for procedure in made {
      #expect(procedure.name == "n", "\(type(of: procedure))")
      procedure.cancel()
    }
    #expect(GroupProcedure(name: nil).name == "GroupProcedure")
    #expect(DelayProcedure(name: nil, by: .seconds(2)).name == DelayProcedure(by: .seconds(2)).name)
  }

  @Test("a named group has the children it was given, in order")
  func children() {
    let (a, b) = (BlockProcedure(name: "a") {}, BlockProcedure(name: "b") {})
    #expect(GroupProcedure(name: "g", a, b).children == [a, b])
    let (c, d) = (BlockProcedure(name: "c") {}, BlockProcedure(name: "d") {})
    #expect(GroupProcedure(name: "g", children: [c, d]).children == [c, d])
  }

  @Test("an AsyncTransformProcedure hands its closure the procedure, if that has two parameters")
  func transform() async throws {
    let queue = ProcedureQueue()
    let transform = AsyncTransformProcedure<Int, String> { procedure, input in
      await Task.yield()
      procedure.report(fractionCompleted: 0.5)
      return "\(procedure.name) \(input) \(procedure.fractionCompleted)"
    }
    transform.name = "t"
    transform.input = 3
    #expect(try await queue.value(of: transform) == "t 3 0.5")
  }
}

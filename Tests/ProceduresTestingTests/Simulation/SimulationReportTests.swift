import Cancellation
import Foundation
import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing

/// What a run that fails, hangs or traps says.
@Suite(.hangLimit) struct SimulationReportTests {
  @Test("a report claims nothing of its seed that does not repeat")
  func doesNotRepeat() throws {
    let runs = Counter()
    let error = #expect(throws: SimulationError.self) {
      try ProcedureSimulation.explore(seeds: 0..<10) { simulation in
        simulation.makeQueue().add(TracedProcedure("p"))
        try simulation.run()
        try simulation.expect(runs.increment() != 3, "the third run of the process")
      }
    }
    let failure = try #require(error)
    #expect(!failure.repeats && runs.value == 4)
    #expect("\(failure)".contains("does not repeat: something outside the simulation decides"))
    #expect(!"\(failure)".contains("It happens with"))
  }

  @Test(
    "a foreign thread is detected, and named by what it had a hand in",
    arguments: ["finish", "cancel by a token"])
  func foreignThread(_ hand: String) throws {
    let error = #expect(throws: SimulationError.self) {
      try ProcedureSimulation(seed: 1).run { simulation in
        let procedure = ManualProcedure(name: "called")
        let source = CancellationTokenSource()
        procedure.cancel(when: source.token)
        let queue = simulation.makeQueue()
        // The other thread acts while the simulation waits for it.
        procedure.addDidExecuteBlockObserver { procedure in
          queue.add(
            BlockProcedure(name: "meeting") {
              let isDone = DispatchSemaphore(value: 0)
              Thread.detachNewThread {
                if hand == "finish" { procedure.finish() } else { source.cancel() }
                isDone.signal()
              }
              isDone.wait()
            })
        }
        queue.add(procedure, ManualProcedure(name: "stuck"), TracedProcedure("other"))
      }
    }
    let text = "\(error!)"
    #expect(error?.foreignNames == ["called"], "\(text)")
    #expect(text.contains("Threads outside the simulation had a hand in 'called'"))
    #expect(text.contains("'stuck' executing"))
  }

  @Test(
    "a simulation reports a task that sleeps in real time, and a deadline by another clock",
    arguments: ["task", "deadline"])
  func otherHands(_ hand: String) throws {
    let error = #expect(throws: SimulationError.self) {
      try ProcedureSimulation(seed: 1, draws: []).run { simulation in
        let (queue, other) = (simulation.makeQueue(), simulation.makeQueue())
        // The simulation waits here until the other thread has acted.
        let isDone = DispatchSemaphore(value: 0)
        @Sendable func meet(_ act: @escaping @Sendable () -> Void) {
          other.add(
            BlockProcedure(name: "meeting") {
              act()
              isDone.wait()
            })
        }
        let source = CancellationTokenSource()
        switch hand {
        case "task":
          queue.add(
            AsyncProcedure(name: "called") { @concurrent in
              await withCheckedContinuation { continuation in
                meet {
                  Thread.detachNewThread {
                    continuation.resume()
                    isDone.signal()
                  }
                }
              }
            })
        default:
          let procedure = ManualProcedure(name: "called")
          procedure.cancel(when: source.token)
          source.token.onCancel { isDone.signal() }
          procedure.addDidExecuteBlockObserver { _ in
            meet { source.cancel(after: .milliseconds(1)) }
          }
          queue.add(procedure)
        }
        try simulation.run()
        try simulation.expect(false, "to see who had a hand in it")
      }
    }
    #expect(error?.foreignNames == ["called"], "\(error!)")
  }

  @Test(
    "a report begins with its verdict: which closures need the main actor, and what to write instead"
  )
  @MainActor func mainActor() throws {
    for names in [["show"], (1...7).map { "show \($0)" }] {
      let error = #expect(throws: SimulationError.self) {
        try ProcedureSimulation(seed: 1).run { simulation in
          let queue = simulation.makeQueue()
          for number in 0..<300 { queue.add(BlockProcedure(name: "other \(number)") {}) }
          for name in names {
            let show = MainActorProcedure(name: name) {}
            let next = BlockProcedure(name: "after \(name)") {}
            next.add(dependency: show)
            queue.add(show, next)
          }
        }
      }
      let lines = "\(try #require(error))".split(separator: "\n")
      let need =
        names.count == 1 ? "'show' needs the main actor" : "'show 5' and 2 more need the main actor"
      #expect(
        lines[0].contains(need) && lines[0].contains("Write { @concurrent in … }"), "\(lines[0])")
      #expect(
        lines[1].hasPrefix("Nothing is left to be done, and \(names.count * 2) procedures"),
        "\(lines[1])")
      let instruction = try #require(
        lines.firstIndex { $0.contains("ProcedureSimulation(seed: 1") })
      let snapshot = try #require(lines.firstIndex { $0.contains("pending: it waits for") })
      let log = try #require(lines.firstIndex { $0.hasPrefix("0.000000000") })
      #expect(instruction < snapshot && snapshot < log)
    }
  }

  @Test("exploring ends a run that does not come to an end after the steps that it is given")
  func endless() {
    // One error for all: what never ends keeps its errors, and after each test Swift Testing goes
    // through all that were thrown and still exist.
    let again: any Error = TestError("again")
    let error = #expect(throws: SimulationError.self) {
      try ProcedureSimulation.explore(seeds: 0..<1, mostSteps: 1_000) { simulation in
        simulation.makeQueue().add(
          RetryProcedure(name: "endless", wait: .immediate) { BlockProcedure { throw again } })
      }
    }
    let text = "\(error!)"
    #expect(text.hasPrefix("It does not come to an end within 1000 steps."))
    #expect(text.count < 40_000)
  }

  @Test("the report shows the one race that fails among hundreds of others, with a decision or two")
  func reduced() throws {
    let error = #expect(throws: SimulationError.self) {
      try ProcedureSimulation.explore(seeds: 0..<200) { simulation in
        let queue = simulation.makeQueue()
        let value = Slot<Int>()
        value.value = 0
        for number in 0..<150 { queue.add(BlockProcedure {}.named("other \(number)")) }
        for name in ["left", "right"] {
          let read = Slot<Int>()
          let first = BlockProcedure { read.value = value.value }.named("\(name) reads")
          let second = BlockProcedure { value.value = (read.value ?? 0) + 1 }.named(
            "\(name) writes")
          second.add(dependency: first)
          queue.add(GroupProcedure(first, second).named(name))
        }
        try simulation.run()
        try simulation.expect(value.value == 2, "lost")
      }
    }
    let failure = try #require(error)
    let text = "\(failure)"
    #expect(
      failure.repeats && failure.draws.count { $0 != 0 } <= 3, "\(failure.draws.filter { $0 != 0 })"
    )
    #expect(text.count < 6_000 && failure.log.count > 20_000, "\(text.count)")
    #expect(text.contains("left writes") || text.contains("right writes"), "\(text)")
    #expect(text.contains("other lines are in the error's log"))
  }

  @Test("a step that lasts is reported, once, with the seed, the decisions and the log")
  func hang() throws {
    let reports = Recorder<String>()
    let simulation = ProcedureSimulation(seed: 42)
    try simulation.run { simulation in
      let queue = simulation.makeQueue()
      queue.add(
        TracedProcedure("before"),
        BlockProcedure {
          // As the watch's own timer would, while this blocks.
          let watch = SimulationWatch.shared
          watch.look(at: .now + .seconds(5)) { reports.note($0) }
          watch.look(at: .now + .seconds(60)) { reports.note($0) }
          watch.look(at: .now + .seconds(61)) { reports.note($0) }
        }.named("blocks"))
    }
    let own = reports.events.filter { $0.contains("seed: 42") }
    #expect(own.count == 1)
    #expect(own.first?.contains("has not come further for 10 seconds") == true)
    #expect(own.first?.contains("blocks will execute") == true)
  }

  #if os(macOS) || os(Linux)
    @Test("before a trap the seed, the decisions and the log are printed")
    func trap() async throws {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try ProcedureSimulation.explore(seeds: 7..<8) { simulation in
          let queue = simulation.makeQueue()
          let last = BlockProcedure { preconditionFailure("as in the code under test") }
          let first = TracedProcedure("first")
          last.add(dependency: first)
          queue.add(first, last)
        }
      }
      let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
      #expect(text.contains("The program stops in the simulation of seed 7."), "\(text)")
      #expect(text.contains("ProcedureSimulation(seed: 7, draws: ["), "\(text)")
      #expect(text.contains("first did finish: succeeded"), "\(text)")
    }
  #endif
}

/// Shapes with many procedures, in two sizes: each of them costs the same.
@Suite(.serialized, .hangLimit) struct SimulationGrowthTests {
  private func expectGrowth(
    from count: Int, _ make: (_ count: Int) -> [Procedure],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let growth = try growth(from: Rounds.size(25_000, otherwise: count)) { count in
      try ProcedureSimulation(seed: 1, mostSteps: .max).run { simulation in
        simulation.makeQueue().add(make(count))
      }
    }
    #expect(growth < 8, sourceLocation: sourceLocation)
  }

  @Test("many procedures of one name take linear time in a simulation")
  func names() throws {
    try expectGrowth(from: 1_000) { count in (0..<count).map { _ in BlockProcedure {} } }
  }

  @Test("many groups take linear time in a simulation")
  func groups() throws {
    try expectGrowth(from: 500) { count in
      (0..<count).map { _ in GroupProcedure(BlockProcedure {}) }
    }
  }

  @Test("many children that are added one by one take linear time in a simulation")
  func children() throws {
    try expectGrowth(from: 500) { count in
      [
        RepeatProcedure(max: count) { BlockProcedure {} },
        GroupProcedure(children: (0..<count).map { _ in BlockProcedure {} }),
      ]
    }
  }

  @Test("the measure of growth notices quadratic time")
  func measure() {
    let sum = Counter()
    #expect(growth(from: 100) { count in for _ in 0..<(count * count) { sum.increment() } } > 8)
  }
}

import ProcedurePrimitives
import Procedures
import ProceduresTesting
import Synchronization
import Testing
import ProcedureTestSupport

@testable import ProceduresTimeline

@Suite(.hangLimit) struct SignpostTests {
  /// Notes each signpost as a line: the time, what it is, and its procedure.
  private final class Notes: SignpostSink {
    private let recorder = Recorder<String>()
    private let names = Locked<[UInt64: String]>([:])
    private let count = Atomic<UInt64>(0)
    private let isOn = Atomic<Bool>(true)
    private let now: @Sendable () -> Duration

    init(now: @escaping @Sendable () -> Duration = { .zero }) {
      self.now = now
    }

    var isEnabled: Bool {
      get { isOn.load(ordering: .relaxed) }
      set { isOn.store(newValue, ordering: .relaxed) }
    }

    var lines: [String] { recorder.events }

    func lines(of name: String) -> [String] {
      lines.compactMap { line in
        guard let place = line.firstRange(of: " '\(name)'"),
          line.firstRange(of: " '")?.lowerBound == place.lowerBound
        else { return nil }
        return String(line[..<place.lowerBound])
      }
    }

    func makeNumber() -> UInt64 { count.add(1, ordering: .relaxed).newValue }

    func begin(_ interval: SignpostInterval, _ number: UInt64, _ message: String) {
      names.withLock { $0[number] = message }
      note("begin \(interval)", number)
    }

    func end(_ interval: SignpostInterval, _ number: UInt64, _ message: String) {
      note("end \(interval), \(message)", number)
    }

    func emitCancel(_ number: UInt64, _ message: String) { note("cancel", number) }

    private func note(_ event: String, _ number: UInt64) {
      let name = names.withLock { $0[number] ?? "?" }
      recorder.note("\(Int(now() / .seconds(1))) \(event) \(name)")
    }
  }

  private struct World {
    let simulation: ProcedureSimulation
    let queue: ProcedureQueue
    let notes: Notes

    init(seed: UInt64 = 1, limit: Int = .max) {
      simulation = ProcedureSimulation(seed: seed)
      queue = simulation.makeQueue(name: "work", maxConcurrentProcedureCount: limit)
      notes = Notes(now: { [simulation] in simulation.elapsed })
      SignpostEmitter(notes).emit(for: queue)
    }
  }

  @Test("a procedure has an interval until it starts, and one until it has finished")
  func life() throws {
    let world = World(limit: 1)
    world.queue.add(lasting(2, "one"), lasting(3, "two"))
    try world.simulation.run()
    #expect(
      world.notes.lines == [
        "0 begin wait 'one' (LastingProcedure) in 'work'",
        "0 begin wait 'two' (LastingProcedure) in 'work'",
        "0 end wait, started 'one' (LastingProcedure) in 'work'",
        "0 begin run 'one' (LastingProcedure) in 'work'",
        "2 end run, succeeded 'one' (LastingProcedure) in 'work'",
        "2 end wait, started 'two' (LastingProcedure) in 'work'",
        "2 begin run 'two' (LastingProcedure) in 'work'",
        "5 end run, succeeded 'two' (LastingProcedure) in 'work'",
      ])
  }

  @Test("the end has the outcome, with the types of errors and not their texts")
  func outcome() throws {
    let world = World()
    world.queue.add(BlockProcedure { throw TestError("a secret") }.named("fails"))
    try world.simulation.run()
    #expect(world.notes.lines(of: "fails").last == "0 end run, failed: TestError")
    #expect(!world.notes.lines.contains { $0.contains("secret") })
  }

  @Test("a cancel is an event; cancelled before it starts, a procedure has waited, and not run")
  func cancel() throws {
    let world = World(limit: 1)
    let (first, second) = (lasting(9, "first"), lasting(9, "second"))
    world.queue.add(first, second)
    world.simulation.perform(after: .seconds(1)) { second.cancel(withError: TestError()) }
    world.simulation.perform(after: .seconds(2)) { first.cancel() }
    try world.simulation.run()
    #expect(
      world.notes.lines(of: "second") == [
        "0 begin wait", "1 cancel", "1 end wait, cancelled: TestError",
      ])
    #expect(
      world.notes.lines(of: "first") == [
        "0 begin wait", "0 end wait, started", "0 begin run", "2 cancel", "2 end run, cancelled",
      ])
  }

  @Test("a procedure that a closed queue refuses has an interval of waiting, and a cancel")
  func refused() throws {
    let world = World()
    world.queue.close()
    world.queue.add(lasting(1, "late"))
    try world.simulation.run()
    #expect(
      world.notes.lines(of: "late") == [
        "0 begin wait", "0 cancel", "0 end wait, cancelled: ProcedureError",
      ])
  }

  @Test(
    "children, late children, produced procedures and attempts have signposts once, however deep")
  func below() throws {
    let world = World()
    let inner = GroupProcedure(lasting(2, "deep")).named("inner")
    let group = GroupProcedure(inner).named("outer")
    let producing = BlockProcedure { try $0.produce(lasting(1, "produced")) }.named("producing")
    let retry = RetryProcedure(max: 2, wait: .constant(.seconds(1))) {
      BlockProcedure { throw TestError() }.named("attempt")
    }.named("retry")
    world.queue.add(group, producing, retry)
    world.simulation.perform(after: .seconds(1)) { inner.add(child: lasting(2, "later")) }
    try world.simulation.run()
    let begun = world.notes.lines.filter { $0.contains("begin run") }.map { $0.dropFirst(12) }
    for line in [
      "'outer' (GroupProcedure) in 'work'", "'inner' (GroupProcedure) in 'outer'",
      "'deep' (LastingProcedure) in 'inner'", "'later' (LastingProcedure) in 'inner'",
      "'producing' (BlockProcedure) in 'work'", "'produced' (LastingProcedure) in 'work'",
    ] {
      #expect(begun.count { $0 == line } == 1, "\(line) in \(begun)")
    }
    #expect(begun.count { $0.hasPrefix("'attempt'") } >= 2, "\(begun)")
  }

  @Test("while nothing records, there are no signposts; what is added later has them")
  func disabled() throws {
    let world = World()
    world.notes.isEnabled = false
    world.queue.add(lasting(1, "before"))
    try world.simulation.run()
    #expect(world.notes.lines.isEmpty)
    world.notes.isEnabled = true
    world.queue.add(lasting(1, "after"))
    try world.simulation.run()
    #expect(world.notes.lines.count == 4)
    #expect(world.notes.lines.allSatisfy { $0.contains("'after'") })
  }

  @Test("the emitter keeps no procedure, and the queue keeps the emitter")
  func memory() async {
    let gone = Recorder<String>()
    weak var notes: Notes?
    do {
      let queue = ProcedureQueue()
      let sink = Notes()
      notes = sink
      SignpostEmitter(sink).emit(for: queue)
      let tracker = Tracker { gone.note("procedure") }
      let child = BlockProcedure { _ = tracker }
      queue.add(GroupProcedure(child))
      await queue.waitUntilAllFinished()
    }
    #expect(await eventually { notes == nil && !gone.events.isEmpty })
    #expect(gone.events == ["procedure"])
  }

  @Test(
    "each interval that begins ends, and no two of a procedure overlap",
    arguments: UInt64(1)...(Rounds.isStress ? 40 : 20))
  func pairs(seed: UInt64) throws {
    let workload = RandomWorkload(seed: seed)
    let notes = Notes()
    SignpostEmitter(notes).emit(for: workload.scenario.queue)
    let snapshot = try workload.run()
    #expect(!snapshot.entries.isEmpty)
    for entry in snapshot.entries {
      let events = notes.lines(of: entry.name).map { $0.dropFirst(2) }.filter { $0 != "cancel" }
      let hasRun = events.contains("begin run")
      // It may be cancelled between the two.
      #expect(hasRun || entry.executing == nil)
      let start: [Substring] = hasRun ? ["end wait, started", "begin run"] : []
      #expect(events.dropLast() == ["begin wait"] + start, "\(entry.name)")
      #expect(events.last?.hasPrefix(hasRun ? "end run, " : "end wait, ") == true)
    }
  }

  @Test("a child that has finished before its group starts is not met again")
  func finishedBefore() throws {
    let world = World(limit: 1)
    let child = lasting(9, "child")
    world.queue.add(lasting(2, "first"), GroupProcedure(child, lasting(1, "other")))
    world.simulation.perform(after: .seconds(1)) { child.cancel() }
    try world.simulation.run()
    #expect(
      world.notes.lines(of: "child") == ["0 begin wait", "1 cancel", "1 end wait, cancelled"])
    #expect(world.notes.lines(of: "other").count == 4)
  }

  @Test("a child that is added while its group is has one pair")
  func race() async {
    for _ in 0..<Rounds.few {
      let queue = ProcedureQueue()
      let notes = Notes()
      SignpostEmitter(notes).emit(for: queue)
      let group = GroupProcedure(BlockProcedure {}.named("early"))
      let gate = BlockProcedure {}
      group.add(dependency: gate)
      let late = (0..<4).map { BlockProcedure {}.named("late \($0)") }
      raceOnThreads({ queue.add(group) }, { for child in late { group.add(child: child) } })
      queue.add(gate)
      await queue.waitUntilAllFinished()
      for name in ["early"] + late.map(\.name) {
        let events = notes.lines(of: name)
        #expect(events.count == 4, "\(name): \(events)")
      }
    }
  }
}

public import Cancellation
internal import ProcedurePrimitives
public import Procedures
internal import ProceduresTimeline

/// Runs queues on one thread, in virtual time, in an order that a seed decides, and decides again.
///
/// ```swift
/// try ProcedureSimulation.explore(seeds: 0..<10_000) { simulation in
///   let queue = simulation.makeQueue(name: "sync", maxConcurrentProcedureCount: 2)
///   let (download, upload) = (Download(), Upload())
///   queue.add(download, upload)
///   simulation.perform(after: .seconds(1)) { download.cancel() }
///   try simulation.run()
///   try simulation.expect(upload.isFinished, "the upload was lost")
/// }
/// ```
///
/// Whenever several things could happen next (turns of several procedures, timers that are due, what
/// `perform` has planned) one is drawn. At each event of a procedure its turn may be put aside, as if its thread
/// were preempted there, so that a seed may draw each order of events. The same seed gives the same run,
/// to the byte of `log`.
///
/// ## Time
/// It starts at zero and passes only when nothing is left to be done: an hour of delays takes no time
/// at all. Work takes none either. Hand `clock` to tokens that have deadlines.
///
/// ## What belongs to it
/// Queues that it made, groups on them, their conditions and tasks, and, inside the closures that it
/// runs, procedures on no queue: make all of them there. Real time, threads and Dispatch queues of
/// the code under test do not: what waits for those looks like something that never ends.
///
/// ## Thread safety
/// Use it on one thread: that which calls `run()`, and on which everything happens.
public final class ProcedureSimulation: Sendable {
  struct Record: Sendable {
    var log = SimulationLog()
    /// Procedures that have been met and have not finished.
    var unfinished: [ObjectIdentifier: Met] = [:]
    var metCount = 0
    var queues: [QueueReference] = []
    var invariants: [(name: String, holds: @Sendable () -> Bool)] = []
    var failure: (any Error)?
    var generator: SimulationGenerator
    var steps = 0
    /// Jobs that outside threads have brought, by their procedures.
    var foreignNames: Set<String> = []
    /// Whether the step that runs came from such a thread.
    var isStepForeign = false
  }

  /// A procedure that is observed.
  struct Met: Sendable {
    weak var procedure: Procedure?
    let name: String
    /// Its number, in the order in which they were met.
    let place: Int
  }

  struct QueueReference: Sendable {
    weak var queue: ProcedureQueue?
  }

  /// The seed, which decides the order of events.
  public let seed: UInt64

  let timeline: ProcedureTimeline?
  let world: SimulatedWorld
  let record: Locked<Record>
  private let surroundings: DetachedSurroundings

  /// After so many steps the simulation takes a run to be endless.
  public let mostSteps: Int

  /// Whether a run that stands still waits a moment for outside threads, to name them.
  let waitsForForeignThreads: Bool

  /// Makes an empty world.
  ///
  /// - Parameters:
  ///   - seed: decides the order of events.
  ///   - draws: the decisions themselves, from a `SimulationError`; after the last of them it is
  ///     always the first possible one. Nil to draw them from the seed.
  ///   - mostSteps: after how many steps the simulation takes a run to be endless.
  public convenience init(seed: UInt64, draws: [Int]? = nil, mostSteps: Int = 100_000) {
    self.init(seed: seed, draws: draws, mostSteps: mostSteps, timeline: nil)
  }

  /// - Parameters:
  ///   - timeline: records each queue that is made.
  ///   - notesChoices: whether it is noted among how many each decision was.
  ///   - waitsForForeignThreads: not of one of many that are tried.
  init(
    seed: UInt64, draws: [Int]?, mostSteps: Int, timeline: ProcedureTimeline?,
    notesChoices: Bool = false, waitsForForeignThreads: Bool = true
  ) {
    self.timeline = timeline
    self.seed = seed
    self.mostSteps = mostSteps
    self.waitsForForeignThreads = waitsForForeignThreads
    world = SimulatedWorld(
      draws: SimulationDraws(seed: seed, script: draws, notesChoices: notesChoices),
      seed: seed &+ 1 << 63)
    record = Locked(Record(generator: SimulationGenerator(seed: ~seed)))
    surroundings = DetachedSurroundings(scheduler: world, clock: TimerClock(service: world))
  }

  /// Its time, for tokens with deadlines.
  public var clock: TimerClock { TimerClock(service: world) }

  /// How much time has passed in it.
  public var elapsed: Duration { .nanoseconds(Int64(world.elapsed)) }

  /// The events so far: a line for each, with the time in seconds.
  ///
  /// Procedures of the same name get numbers, in the order in which they came.
  public var log: String { record.withLock { $0.log }.text }

  /// The decisions so far.
  public var draws: [Int] { world.draws }

  /// Makes a queue whose procedures run in the simulation.
  public func makeQueue(
    name: String = "queue", maxConcurrentProcedureCount: Int = .max
  ) -> ProcedureQueue {
    let queue = ProcedureQueue(
      name: name, maxConcurrentProcedureCount: maxConcurrentProcedureCount, scheduler: world,
      clock: clock)
    queue.record { [self] procedure in observe(procedure) }
    timeline?.record(queue)
    queue.recordRefusals { [self] refusal in note(refusal.description) }
    record.withLock { $0.queues.append(QueueReference(queue: queue)) }
    return queue
  }

  /// Plans something that a user, or another part of the program, does after a while.
  ///
  /// The order of several that come at the same time is drawn. It may happen while a procedure is
  /// between two events, as if on another thread. If it throws, the run fails with that error.
  ///
  /// - Parameters:
  ///   - name: its name in the log; nothing is noted without one.
  ///   - delay: in virtual time, from now on.
  ///   - action: is called once, on the thread of the simulation.
  public func perform(
    _ name: String? = nil, after delay: Duration = .zero,
    _ action: @escaping @Sendable () throws -> Void
  ) {
    let event = SimulatedWorld.Event { [self] in
      if let name { note(name) }
      do { try action() } catch { fail(error) }
    }
    world.plan(event, after: delay)
  }

  /// Adds a line to the log.
  public func note(_ line: String) {
    let nanoseconds = world.elapsed
    record.withLock { $0.log.note(.note, of: line, at: nanoseconds) }
  }

  /// A random number for the scenario itself, from the seed. Not one of the `draws`.
  public func random(in range: ClosedRange<Int>) -> Int {
    record.withLock { Int.random(in: range, using: &$0.generator) }
  }

  /// Notes the events of a procedure that is on no queue. The simulation finds procedures on its queues by itself.
  public func observe(_ procedure: Procedure) {
    // It does not recurse: groups may be nested thousands deep.
    var unmet = [procedure]
    while let next = unmet.popLast() {
      guard let name = meet(next) else { continue }
      next.addStaged(SimulationObserver(of: name, in: self))
      guard let group = next as? GroupProcedure else { continue }
      group.recordChildren { [self] child in observe(child) }
      unmet += group.children.reversed()
    }
  }

  /// - Returns: its name in the log; nil if it has been met before.
  private func meet(_ procedure: Procedure) -> String? {
    let name = procedure.name
    return record.withLock { record in
      if record.unfinished[ObjectIdentifier(procedure)]?.procedure === procedure { return nil }
      let name = record.log.uniqueName(for: name)
      record.metCount += 1
      record.unfinished[ObjectIdentifier(procedure)] = Met(
        procedure: procedure, name: name, place: record.metCount)
      return name
    }
  }

  /// Has `body` run with procedures on no queue in the simulation.
  func within<Result>(_ body: () throws -> Result) rethrows -> Result {
    try surroundings.replacingDispatch(body)
  }
}

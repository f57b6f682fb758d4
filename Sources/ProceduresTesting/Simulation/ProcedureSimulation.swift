public import Cancellation
internal import ProcedurePrimitives
public import Procedures
internal import ProceduresTimeline

/// Runs queues on one thread, in virtual time, in an order that a seed decides reproducibly.
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
/// Whenever several steps could be next (turns of several procedures, due timers, actions of
/// `perform`), one is drawn. At each event of a procedure its turn may be put aside, as if its
/// thread were preempted there, so every order of events has a chance. The same seed gives the same
/// run, to the byte of `log`.
///
/// ## Time
/// It starts at zero and passes only when no step is left at the current instant: an hour of delays
/// takes no real time. Work takes no virtual time. Pass `clock` to tokens that have deadlines.
///
/// ## Scope
/// The simulation includes queues that it made, groups on them, their conditions and tasks, and,
/// inside the closures that it runs, procedures on no queue: make all of them there. It does not
/// include real time, threads and Dispatch queues of the code under test: a procedure that waits
/// for those seems never to finish.
///
/// ## Thread safety
/// Use it only on the thread that calls `run()`, on which everything happens.
public final class ProcedureSimulation: Sendable {
  struct Record: Sendable {
    var log = SimulationLog()
    /// Procedures that the simulation has met, and that have not finished.
    var unfinished: [ObjectIdentifier: Met] = [:]
    var metCount = 0
    var queues: [QueueReference] = []
    var invariants: [(name: String, holds: @Sendable () -> Bool)] = []
    var failure: (any Error)?
    var generator: SimulationGenerator
    var steps = 0
    /// The names of procedures whose jobs came from outside threads.
    var foreignNames: Set<String> = []
    /// Whether the running step came from such a thread.
    var isStepForeign = false
  }

  /// A procedure that the simulation observes.
  struct Met: Sendable {
    weak var procedure: Procedure?
    let name: String
    /// Its number, in the order of meeting.
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

  /// The number of steps after which a run counts as endless.
  public let mostSteps: Int

  /// Whether a run that has stopped waits a moment for outside threads, to name their procedures.
  let waitsForForeignThreads: Bool

  /// Makes an empty simulation.
  ///
  /// - Parameters:
  ///   - seed: decides the order of events.
  ///   - draws: the decisions themselves, from a `SimulationError`; after the last it always takes
  ///     the first candidate. Nil to draw them from the seed.
  ///   - mostSteps: the number of steps after which a run counts as endless.
  public convenience init(seed: UInt64, draws: [Int]? = nil, mostSteps: Int = 100_000) {
    self.init(seed: seed, draws: draws, mostSteps: mostSteps, timeline: nil)
  }

  /// - Parameters:
  ///   - timeline: records each queue that is made.
  ///   - notesChoices: whether to record the number of candidates of each decision.
  ///   - waitsForForeignThreads: false for the many runs of a search.
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

  /// The simulation's clock, for tokens with deadlines.
  public var clock: TimerClock { TimerClock(service: world) }

  /// The virtual time that has passed.
  public var elapsed: Duration { .nanoseconds(Int64(world.elapsed)) }

  /// The events so far: a line for each, with the time in seconds.
  ///
  /// Procedures of the same name get numbers, in the order in which they were met.
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

  /// Plans an action of a user, or of another part of the program, after a delay.
  ///
  /// The order of actions at the same time is drawn. An action may run while a procedure is between
  /// two events, as if on another thread. If it throws, the run fails with that error.
  ///
  /// - Parameters:
  ///   - name: its name in the log; without one it is not logged.
  ///   - delay: the virtual time from now.
  ///   - action: called once, on the thread of the simulation.
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

  /// A random number for the scenario itself, from the seed. It does not count as one of the
  /// `draws`.
  public func random(in range: ClosedRange<Int>) -> Int {
    record.withLock { Int.random(in: range, using: &$0.generator) }
  }

  /// Records the events of a procedure that is on no queue. The simulation finds procedures on its
  /// queues automatically.
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

  /// Runs `body`, with procedures on no queue in the simulation.
  func within<Result>(_ body: () throws -> Result) rethrows -> Result {
    try surroundings.replacingDispatch(body)
  }
}

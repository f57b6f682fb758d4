internal import Dispatch
internal import ProcedurePrimitives
internal import Procedures

/// The possible next steps of a simulation, and its time. Runs nothing by itself.
///
/// Time passes only when nothing is left to be done at the present instant. A step for the moment when
/// it is quiet comes last of each instant, and does not keep a simulation going in which everything
/// has finished.
///
/// At each event of a procedure its turn may be put aside, as if its thread were preempted there: the rest of
/// it is one more thing that could happen.
final class SimulatedWorld: Scheduler, TimerService {
  /// Something that could happen next.
  struct Event: Sendable {
    let isQuiet: Bool
    /// Whether it goes on with the turn that was put aside.
    let goesOn: Bool
    /// Whether a thread outside the simulation brought it.
    let isForeign: Bool
    var priority: UInt64 = 0
    /// Whether it is the first of what could happen, and nothing was put aside for it.
    var isObvious = true
    let run: @Sendable () -> Void

    init(
      isQuiet: Bool = false, goesOn: Bool = false, isForeign: Bool = false,
      _ run: @escaping @Sendable () -> Void
    ) {
      self.isQuiet = isQuiet
      self.goesOn = goesOn
      self.isForeign = isForeign
      self.run = run
    }
  }

  fileprivate struct State: Sendable {
    var draws: SimulationDraws
    var generator: SimulationGenerator
    /// The steps that could happen now, in the order in which they came up.
    var possible: [Event] = []
    var quiet: [Event] = []
    /// Made with the first event that lies in the future.
    var future: TimerWheel<Event>?
    /// How many events of the future are not quiet ones.
    var plans = 0
    var elapsed: UInt64 = 0
    /// The step that was chosen when a turn was put aside.
    var chosen: Event?
    /// The step to run on the stack of the event that is being noted.
    var interruption: Event?
    /// How many events are on the stack, one within the other.
    var depth = 0
    /// The priority of the present step.
    var current: UInt64 = 0
    /// Whether the next step to come up is the rest of the present one.
    var isGoingOn = false
    /// The thread that runs it, while one does.
    var owner: ThreadMark?
    /// The last thread that did: a job from any other is foreign.
    var home: ThreadMark?
    /// Whether the present step came from such a thread, and no procedure was named for it yet: a task that goes on
    /// after real time has no event itself, but what it does has.
    var isForeign = false
  }

  private let state: Locked<State>
  private let epoch = ContinuousClock.now

  /// Each step is one turn of one procedure.
  let quantum = WorkerQuantum(procedures: 1)
  let lookPace = LookPace()

  /// - Parameter seed: of the numbers that are no `draws`: those of jitter.
  init(draws: SimulationDraws, seed: UInt64) {
    state = Locked(State(draws: draws, generator: SimulationGenerator(seed: seed)))
  }

  func drawNumber() -> UInt64? { state.withLock { $0.generator.next() } }

  /// The nanoseconds since the beginning.
  var elapsed: UInt64 { state.withLock { $0.elapsed } }
  var now: ContinuousClock.Instant { epoch.advanced(by: .nanoseconds(Int64(clamping: elapsed))) }
  var draws: [Int] { state.withLock { $0.draws.made } }
  var choices: [SimulationDraws.Choice] { state.withLock { $0.draws.choices } }

  // MARK: What could happen

  func submit(quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void) {
    state.withLock { state in
      let isFromOutside = state.isOnForeignThread
      let event = Event(isForeign: isFromOutside || state.isForeign, worker)
      if !isFromOutside, exchange(&state.isGoingOn, with: false) {
        state.comeUp(event, priority: state.current, isFirst: true)
      } else {
        state.comeUp(event, priority: state.draws.priority(begins: true))
      }
    }
  }

  func submitWhenQuiet(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    plan(Event(isQuiet: true, work), after: delay)
  }

  /// Makes something possible when so much time has passed.
  func plan(_ event: Event, after delay: Duration) {
    state.withLock { state in
      let nanoseconds = delay.nanosecondsRoundedUp
      if nanoseconds == 0, !event.isQuiet {
        state.comeUp(event, priority: state.draws.priority(begins: false))
      } else {
        _ = state.plan(event, at: min(state.elapsed + nanoseconds, VirtualTimers.end + 1))
      }
    }
  }

  func schedule(_ target: any TimerTarget, at deadline: ContinuousClock.Instant) -> SlabKey {
    let nanoseconds = deadline.durationSince(epoch).nanosecondsRoundedUp
    let event = Event(isQuiet: target is any QuietTarget) { target.timerFired() }
    return state.withLock { $0.plan(event, at: nanoseconds) }
  }

  /// One that has become due already may still fire, as it may on Dispatch.
  func cancel(_ key: SlabKey) -> Bool {
    let event = state.withLock { state in
      let event = state.future?.cancel(key)
      if let event, !event.isQuiet { state.plans -= 1 }
      return event
    }
    return event != nil
  }

  func deliver(_ work: @escaping @Sendable () -> Void) {
    submit(quality: nil, work)
  }

  /// Whether something could happen now.
  var hasEvents: Bool { state.withLock { !$0.possible.isEmpty || $0.chosen != nil } }

  // MARK: What happens

  /// Has the calling thread run it for as long as `body` runs.
  func owned<Result>(_ body: () throws -> Result) rethrows -> Result {
    let before = state.withLock { state in
      state.home = ThreadMark.current
      return exchange(&state.owner, with: ThreadMark.current)
    }
    defer { state.withLock { $0.owner = before } }
    return try body()
  }

  /// Draws what happens next. Lets time pass if nothing is left to be done now.
  ///
  /// - Parameters:
  ///   - end: the time beyond which nothing happens.
  ///   - isOver: whether it may end although work is left when it is quiet.
  func next(until end: UInt64, isOver: () -> Bool) -> Event? {
    let isOver = isOver()
    return state.withLock { state -> Event? in
      if let event = state.interruption.take() ?? state.chosen.take() { return state.begin(event) }
      while true {
        if !state.possible.isEmpty {
          let place = state.draws.next(among: &state.possible)
          var event = state.possible.remove(at: place)
          event.isObvious = place == 0
          return state.begin(event)
        }
        if isOver, state.plans == 0 { return nil }
        if !state.quiet.isEmpty { return state.begin(state.quiet.removeFirst()) }
        guard state.moveOn(until: end) else { return nil }
      }
    }
  }

  /// Runs the step that was drawn to happen in the middle of another.
  func interrupt(_ willRun: () -> Void) {
    guard let event = state.withLock({ $0.beginInterruption() }) else { return }
    willRun()
    event.run()
    state.withLock { $0.depth -= 1 }
  }

  // MARK: At an event of a procedure

  /// Draws whether the turn is put aside there, and what happens instead, or in the middle of it.
  func putsAside() -> Bool {
    state.withLock { $0.pause() }
  }

  /// The rest of the turn that was put aside could happen next.
  func perform(_ work: @escaping @Sendable () -> Void) {
    state.withLock { state in
      let event = Event(goesOn: true, isForeign: state.isForeign, work)
      state.comeUp(event, priority: state.current, isFirst: true)
    }
  }

  /// Whether the calling thread is no part of the simulation.
  var isOnForeignThread: Bool { state.withLock { $0.isOnForeignThread } }

  /// A procedure was named for what came from outside: what follows is that one's.
  func noteNamed() { state.withLock { $0.isForeign = false } }

  /// Nothing is left to be done until then.
  func sleep(until end: UInt64) {
    state.withLock { $0.elapsed = max($0.elapsed, min(end, VirtualTimers.end)) }
  }

  /// Forgets whatever could happen.
  func clear() {
    // A release may call back.
    let forgotten = state.withLock { state in
      defer {
        (state.possible, state.quiet, state.future, state.plans) = ([], [], nil, 0)
        (state.chosen, state.interruption) = (nil, nil)
      }
      return (state.possible, state.quiet, state.future, state.chosen, state.interruption)
    }
    _ = forgotten
  }
}

extension SimulatedWorld.State {
  fileprivate var isOnForeignThread: Bool { home != nil && home != ThreadMark.current }

  fileprivate mutating func comeUp(
    _ event: SimulatedWorld.Event, priority: UInt64, isFirst: Bool = false
  ) {
    var event = event
    event.priority = priority
    if isFirst { possible.insert(event, at: 0) } else { possible.append(event) }
  }

  fileprivate mutating func begin(_ event: SimulatedWorld.Event) -> SimulatedWorld.Event {
    (current, isGoingOn, isForeign) = (event.priority, event.goesOn, event.isForeign)
    return event
  }

  fileprivate mutating func beginInterruption() -> SimulatedWorld.Event? {
    guard let event = interruption.take() else { return nil }
    depth += 1
    return event
  }

  fileprivate mutating func pause() -> Bool {
    // A thread that is not the simulation's goes on: nothing of it is repeated anyway.
    guard owner == ThreadMark.current, chosen == nil, interruption == nil else { return false }
    let decision = draws.pause(
      &current, among: &possible, mayPutAside: depth == 0, mayInterrupt: depth < 2)
    guard decision > 0 else { return false }
    let isPutAside = decision <= possible.count
    var event = possible.remove(at: (decision - 1) % possible.count)
    event.isObvious = false
    if isPutAside { chosen = event } else { interruption = event }
    return isPutAside
  }

  fileprivate mutating func plan(_ event: SimulatedWorld.Event, at nanoseconds: UInt64) -> SlabKey {
    var wheel = future.take() ?? TimerWheel(nanosecondsPerTick: 1)
    defer { future = wheel }
    if !event.isQuiet { plans += 1 }
    return wheel.schedule(event, at: nanoseconds)
  }

  /// To the next instant at which something becomes possible; false if there is none before `end`.
  fileprivate mutating func moveOn(until end: UInt64) -> Bool {
    while let wake = future?.nextWake, wake <= min(end, VirtualTimers.end) {
      elapsed = max(elapsed, wake)
      for event in future?.advance(to: elapsed) ?? [] {
        if event.isQuiet {
          quiet.append(event)
        } else {
          plans -= 1
          comeUp(event, priority: draws.priority(begins: false))
        }
      }
      if !possible.isEmpty || !quiet.isEmpty { return true }
    }
    return false
  }
}

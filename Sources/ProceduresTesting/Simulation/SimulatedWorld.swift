internal import Dispatch
internal import ProcedurePrimitives
internal import Procedures

/// The possible next steps of a simulation, and its time. It runs no step itself.
///
/// Time passes only when no step is left at the current instant. A quiet step comes last at its
/// instant, and does not keep a simulation going in which everything has finished.
///
/// At each event of a procedure its turn may be put aside, as if its thread were preempted there:
/// the rest of it is then one more possible step.
final class SimulatedWorld: Scheduler, TimerService {
  /// A possible next step.
  struct Event: Sendable {
    let isQuiet: Bool
    /// Whether it continues the turn that was put aside.
    let goesOn: Bool
    /// Whether it came from a thread outside the simulation.
    let isForeign: Bool
    var priority: UInt64 = 0
    /// Whether it was the first candidate, and no turn was put aside for it.
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
    /// The steps that are possible now, in the order in which they became so.
    var possible: [Event] = []
    var quiet: [Event] = []
    /// Made with the first future event.
    var future: TimerWheel<Event>?
    /// The number of future events that are not quiet.
    var plans = 0
    var elapsed: UInt64 = 0
    /// The step that was drawn when a turn was put aside.
    var chosen: Event?
    /// The step to run on the stack of the current event.
    var interruption: Event?
    /// How many steps are nested on the stack.
    var depth = 0
    /// The priority of the current step.
    var current: UInt64 = 0
    /// Whether the next submitted step is the rest of the current one.
    var isGoingOn = false
    /// The thread that runs the simulation, while one does.
    var owner: ThreadMark?
    /// The last thread that ran it: a job from any other thread is foreign.
    var home: ThreadMark?
    /// Whether the current step is foreign, and no procedure was named for it yet: a task that
    /// resumes after real time has no event itself, but its effects have.
    var isForeign = false
  }

  private let state: Locked<State>
  private let epoch = ContinuousClock.now

  /// Each step is one turn of one procedure.
  let quantum = WorkerQuantum(procedures: 1)
  let lookPace = LookPace()

  /// - Parameter seed: the seed of other random numbers than `draws`, such as jitter.
  init(draws: SimulationDraws, seed: UInt64) {
    state = Locked(State(draws: draws, generator: SimulationGenerator(seed: seed)))
  }

  func drawNumber() -> UInt64? { state.withLock { $0.generator.next() } }

  /// The time in nanoseconds since the beginning.
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

  /// Makes an event possible after `delay`.
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

  /// A timer that is already due may still fire, as on Dispatch.
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

  var hasEvents: Bool { state.withLock { !$0.possible.isEmpty || $0.chosen != nil } }

  // MARK: What happens

  /// Makes the calling thread run the simulation while `body` runs.
  func owned<Result>(_ body: () throws -> Result) rethrows -> Result {
    let before = state.withLock { state in
      state.home = ThreadMark.current
      return exchange(&state.owner, with: ThreadMark.current)
    }
    defer { state.withLock { $0.owner = before } }
    return try body()
  }

  /// Draws the next step. Lets time pass if none is possible now.
  ///
  /// - Parameters:
  ///   - end: the time beyond which nothing happens.
  ///   - isOver: whether it may end although quiet steps are left.
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

  /// Draws whether the turn is put aside there, and which step runs instead, or in the middle of
  /// it.
  func putsAside() -> Bool {
    state.withLock { $0.pause() }
  }

  /// Makes the rest of the turn that was put aside a possible next step.
  func perform(_ work: @escaping @Sendable () -> Void) {
    state.withLock { state in
      let event = Event(goesOn: true, isForeign: state.isForeign, work)
      state.comeUp(event, priority: state.current, isFirst: true)
    }
  }

  /// Whether the calling thread is outside the simulation.
  var isOnForeignThread: Bool { state.withLock { $0.isOnForeignThread } }

  /// Records that a procedure was named for the foreign step: later events are not foreign.
  func noteNamed() { state.withLock { $0.isForeign = false } }

  /// Advances the time, when no step is left until `end`.
  func sleep(until end: UInt64) {
    state.withLock { $0.elapsed = max($0.elapsed, min(end, VirtualTimers.end)) }
  }

  /// Drops all possible and future steps.
  func clear() {
    // Released outside the lock, since a release may call back.
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
    // A foreign thread is never put aside, since its events are not repeatable anyway.
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

  /// Advances to the next instant at which a step becomes possible; false if there is none until
  /// `end`.
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

internal import Dispatch
internal import ProcedurePrimitives
internal import Procedures

/// What could happen next in a simulation, and what time it is there. Runs nothing by itself.
///
/// Time passes only when nothing is left to be done at the present instant. What is to be done when
/// it is quiet comes last of each instant, and does not keep a simulation going in which everything
/// has finished.
final class SimulatedWorld: Scheduler, TimerService {
  /// Something that could happen next.
  struct Event: Sendable {
    let isQuiet: Bool
    let run: @Sendable () -> Void

    init(isQuiet: Bool = false, _ run: @escaping @Sendable () -> Void) {
      self.isQuiet = isQuiet
      self.run = run
    }
  }

  fileprivate struct State: Sendable {
    var draws: SimulationDraws
    /// What could happen now, in the order in which it came up.
    var possible: [Event] = []
    var quiet: [Event] = []
    /// Made with the first event that lies in the future.
    var future: TimerWheel<Event>?
    /// How many events of the future are not quiet ones.
    var plans = 0
    var elapsed: UInt64 = 0
  }

  private let state: Locked<State>
  private let epoch = ContinuousClock.now

  /// Each step is one turn of one procedure.
  let stretch = WorkerStretch(procedures: 1)

  init(draws: SimulationDraws) {
    state = Locked(State(draws: draws))
  }

  /// In nanoseconds since the beginning.
  var elapsed: UInt64 { state.withLock { $0.elapsed } }
  var now: ContinuousClock.Instant { epoch.advanced(by: .nanoseconds(Int64(clamping: elapsed))) }
  var draws: [Int] { state.withLock { $0.draws.made } }

  // MARK: What could happen

  func submit(quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void) {
    state.withLock { $0.possible.append(Event(worker)) }
  }

  func submitWhenQuiet(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    plan(Event(isQuiet: true, work), after: delay)
  }

  /// Makes something possible when so much time has passed.
  func plan(_ event: Event, after delay: Duration) {
    state.withLock { state in
      let nanoseconds = delay.nanosecondsRoundedUp
      if nanoseconds == 0, !event.isQuiet {
        state.possible.append(event)
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
  var hasEvents: Bool { state.withLock { !$0.possible.isEmpty } }

  // MARK: What happens

  /// Draws what happens next. Lets time pass if nothing is left to be done now.
  ///
  /// - Parameters:
  ///   - end: the time beyond which nothing happens.
  ///   - isOver: whether it may end although something is to be done when it is quiet.
  func next(until end: UInt64, isOver: () -> Bool) -> Event? {
    let isOver = isOver()
    return state.withLock { state -> Event? in
      while true {
        if !state.possible.isEmpty {
          return state.possible.remove(at: state.draws.next(below: state.possible.count))
        }
        if isOver, state.plans == 0 { return nil }
        if !state.quiet.isEmpty { return state.quiet.removeFirst() }
        guard state.moveOn(until: end) else { return nil }
      }
    }
  }

  /// Draws whether something happens in the middle of something else, and what.
  func interruption() -> Event? {
    state.withLock { state -> Event? in
      guard !state.possible.isEmpty, state.draws.happens(onceIn: 4) else { return nil }
      return state.possible.remove(at: state.draws.next(below: state.possible.count))
    }
  }

  /// Nothing is left to be done until then.
  func sleep(until end: UInt64) {
    state.withLock { $0.elapsed = max($0.elapsed, min(end, VirtualTimers.end)) }
  }

  /// Forgets whatever could happen.
  func clear() {
    // What is released may call back.
    let forgotten = state.withLock { state in
      defer { (state.possible, state.quiet, state.future, state.plans) = ([], [], nil, 0) }
      return (state.possible, state.quiet, state.future)
    }
    _ = forgotten
  }
}

extension SimulatedWorld.State {
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
          possible.append(event)
        }
      }
      if !possible.isEmpty || !quiet.isEmpty { return true }
    }
    return false
  }
}

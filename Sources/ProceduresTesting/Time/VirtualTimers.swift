internal import ProcedurePrimitives

/// Timers that fire when their owner advances the time.
final class VirtualTimers: TimerService {
  private struct Agenda: Sendable {
    var wheel = TimerWheel<any TimerTarget>(nanosecondsPerTick: 1)
    var elapsed: UInt64 = 0
    /// The number of timers in the wheel that only observe.
    var quietCount = 0

    mutating func noteLeft(_ target: any TimerTarget) {
      if target is any QuietTarget { quietCount -= 1 }
    }
  }

  /// Time ends here, some 146 years from the beginning: a later timer never fires.
  static let end = Duration.longest.nanosecondsRoundedUp - 1

  private let agenda = Locked(Agenda())
  private let epoch = ContinuousClock.now

  var now: ContinuousClock.Instant { epoch.advanced(by: .nanoseconds(Int64(clamping: elapsed))) }

  /// The nanoseconds since it was made.
  var elapsed: UInt64 { agenda.withLock { $0.elapsed } }

  /// The time of the next work, perhaps only in the wheel.
  var nextWake: UInt64? { agenda.withLock { $0.wheel.nextWake } }

  /// The number of pending timers, without timers that only observe.
  var pendingCount: Int { agenda.withLock { $0.wheel.count - $0.quietCount } }

  func nanoseconds(until instant: ContinuousClock.Instant) -> UInt64 {
    instant.durationSince(epoch).nanosecondsRoundedUp
  }

  func schedule(_ target: any TimerTarget, at deadline: ContinuousClock.Instant) -> SlabKey {
    let nanoseconds = nanoseconds(until: deadline)
    let isQuiet = target is any QuietTarget
    return agenda.withLock { agenda in
      if isQuiet { agenda.quietCount += 1 }
      return agenda.wheel.schedule(target, at: nanoseconds)
    }
  }

  func cancel(_ key: SlabKey) -> Bool {
    let target = agenda.withLock { agenda in
      let target = agenda.wheel.cancel(key)
      if let target { agenda.noteLeft(target) }
      return target
    }
    return target != nil
  }

  func deliver(_ work: @escaping @Sendable () -> Void) { work() }

  /// Advances the time. It stops at each wake-up, so that firing timers may schedule more within
  /// the same advance.
  func advance(to instant: UInt64) {
    let end = min(instant, Self.end)
    while true {
      let due: [any TimerTarget]? = agenda.withLock { agenda in
        let next = min(agenda.wheel.nextWake ?? .max, end)
        agenda.elapsed = max(agenda.elapsed, next)
        let due = agenda.wheel.advance(to: agenda.elapsed)
        for target in due { agenda.noteLeft(target) }
        return due.isEmpty && agenda.elapsed >= end ? nil : due
      }
      guard let due else { return }
      for target in due { target.timerFired() }
    }
  }
}

/// Pending deadlines in a hierarchy of wheels: O(1) to schedule and to cancel.
///
/// A wheel has 64 slots; a slot of level n spans 64ⁿ ticks. A timer lies in the level of the
/// highest 6-bit digit in which its tick differs from now, so it moves at most once per level on
/// its way down. The wheel has no clock, no lock and calls nothing: its owner passes the time in
/// and gets back the timers that are due.
///
/// Invariants:
/// 1. `now` never goes back.
/// 2. A timer in level n has the same digits above n as `now`, and its digit n is not below that
///    of `now`.
/// 3. Bit s of `occupied[n]` is set exactly if slot s of level n holds a timer.
public struct TimerWheel<Target> {
  fileprivate struct Timer {
    var target: Target
    var tick: UInt64
    var deadline: UInt64
    var slot: Int
  }

  private static var levels: Int { 11 }
  private static var slotsPerLevel: Int { 64 }

  private var timers = Slab<Timer>()
  private var slots: ContiguousArray<SlabList>
  private var occupied: ContiguousArray<UInt64>
  private var now: UInt64 = 0
  private let nanosecondsPerTick: UInt64

  /// Makes an empty wheel whose time is zero.
  ///
  /// - Parameter nanosecondsPerTick: the grain of time. Deadlines are rounded up to it, so that
  ///   neighbours share one wake-up.
  public init(nanosecondsPerTick: UInt64) {
    self.nanosecondsPerTick = nanosecondsPerTick
    slots = ContiguousArray(repeating: SlabList(), count: Self.levels * Self.slotsPerLevel)
    occupied = ContiguousArray(repeating: 0, count: Self.levels)
  }

  /// How many timers are pending.
  public var count: Int { timers.count }

  /// Adds a timer that is due at `deadline`, in nanoseconds of the wheel's time. O(1).
  public mutating func schedule(_ target: Target, at deadline: UInt64) -> SlabKey {
    let (whole, rest) = deadline.quotientAndRemainder(dividingBy: nanosecondsPerTick)
    let tick = max(whole + (rest == 0 ? 0 : 1), now)
    let slot = slotIndex(for: tick)
    occupied[slot / Self.slotsPerLevel] |= 1 << UInt64(slot % Self.slotsPerLevel)
    return timers.append(
      Timer(target: target, tick: tick, deadline: deadline, slot: slot), to: &slots[slot])
  }

  /// Removes a timer and returns its target; nil if it fired or was cancelled before. O(1).
  public mutating func cancel(_ key: SlabKey) -> Target? {
    guard timers.contains(key) else { return nil }
    let slot = timers[key.place].slot
    let timer = timers.remove(at: key.place, from: &slots[slot])
    if slots[slot].isEmpty { clearOccupied(slot) }
    return timer.target
  }

  /// Advances the time of an empty wheel, so that the next timer is not placed relative to a
  /// distant past.
  public mutating func skip(to nanoseconds: UInt64) {
    requireConsistency(timers.count == 0, "Internal inconsistency: skipping over pending timers")
    now = max(now, nanoseconds / nanosecondsPerTick)
  }

  /// The time of the next `advance(to:)`, in nanoseconds of the wheel's time; nil if nothing is
  /// pending.
  ///
  /// Never later than the earliest deadline rounded up to a tick. It may be earlier, when timers
  /// only have to move down a level.
  public var nextWake: UInt64? {
    guard let tick = nextOccupied()?.tick else { return nil }
    let (nanoseconds, overflow) = tick.multipliedReportingOverflow(by: nanosecondsPerTick)
    return overflow ? .max : nanoseconds
  }

  /// Advances the time and returns the targets that have become due, earliest deadline first.
  public mutating func advance(to nanoseconds: UInt64) -> [Target] {
    let target = nanoseconds / nanosecondsPerTick
    var due: [(deadline: UInt64, serial: UInt64, target: Target)] = []
    while let next = nextOccupied(), next.tick <= target {
      now = max(now, next.tick)
      clearOccupied(next.slot)
      var list = slots[next.slot]
      slots[next.slot] = SlabList()
      while !list.isEmpty {
        let place = timers.firstPlace(of: list)
        let tick = timers[place].tick
        if tick <= now {
          let serial = timers.key(at: place).serial
          let timer = timers.remove(at: place, from: &list)
          due.append((timer.deadline, serial, timer.target))
        } else {
          let slot = slotIndex(for: tick)
          timers.move(place, from: &list, to: &slots[slot])
          timers[place].slot = slot
          occupied[slot / Self.slotsPerLevel] |= 1 << UInt64(slot % Self.slotsPerLevel)
        }
      }
    }
    now = max(now, target)
    due.sort { ($0.deadline, $0.serial) < ($1.deadline, $1.serial) }
    return due.map { $0.target }
  }

  private func slotIndex(for tick: UInt64) -> Int {
    let level = (63 - ((tick ^ now) | 63).leadingZeroBitCount) / 6
    return level * Self.slotsPerLevel + Int((tick >> UInt64(level * 6)) & 63)
  }

  private mutating func clearOccupied(_ slot: Int) {
    occupied[slot / Self.slotsPerLevel] &= ~(1 << UInt64(slot % Self.slotsPerLevel))
  }

  /// The next slot that holds timers, and the tick at which it begins. The lowest occupied level
  /// comes first, by invariant 2.
  private func nextOccupied() -> (slot: Int, tick: UInt64)? {
    for level in 0..<Self.levels where occupied[level] != 0 {
      let shift = UInt64(level * 6)
      let slot = occupied[level].trailingZeroBitCount
      let digitsAbove = level == Self.levels - 1 ? 0 : (now >> (shift + 6)) << (shift + 6)
      return (level * Self.slotsPerLevel + slot, digitsAbove | (UInt64(slot) << shift))
    }
    return nil
  }
}

extension TimerWheel.Timer: Sendable where Target: Sendable {}
extension TimerWheel: Sendable where Target: Sendable {}

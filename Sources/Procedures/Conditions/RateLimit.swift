internal import ProcedurePrimitives

/// A condition that lets only so many procedures of one category start in each interval.
///
/// ```swift
/// // The server takes ten requests a second, and at most six at once.
/// let host = ExclusionCategory(named: url.host() ?? "")
/// fetch.add(condition: RateLimit(10, per: .seconds(1), of: host))
/// fetch.add(condition: AtMost(6, of: host))
/// ```
///
/// In no interval of that length, wherever it begins, more than so many get their start: together with the slot and
/// all other categories, in one step, by priority and in the order of asking. So procedures that have waited for a
/// place do not start in a burst when there is one. As with `AtMost`, a later, no more urgent one does not overtake.
/// A procedure that is cancelled before it has started takes no start.
///
/// Up to `count` start at once when none did for an interval. For a strict server spread them evenly, ten a second by
/// `RateLimit(1, per: .milliseconds(100), of:)`. A procedure whose start was granted may wait for a thread, if the
/// queue's own are blocked, and then executes sooner after the one before.
///
/// Equal categories with the same interval share their starts, wherever the conditions were made; each procedure keeps
/// to its own count. A rate has nothing to do with the places that `AtMost` counts for the same category. For two
/// intervals, as ten a second and a thousand an hour, add two conditions.
///
/// ## Clock
/// The time is that of the queue's clock, and virtual in a simulation. Give tests an `ExclusionDomain` of their own: a
/// category has one clock at a time, and starts of another clock do not count.
///
/// ## Groups
/// A group's start counts once, and those of its descendants only if they have the condition themselves. An attempt of
/// a `RetryProcedure` is a procedure of its own: give it the condition to count each attempt.
///
/// ## Cost
/// No thread waits, and no timer is set before a procedure has to wait. Two to four microseconds more for a procedure,
/// and some 16 bytes for each start that still counts.
public struct RateLimit: ExclusionCondition {
  private let interval: Duration
  let limit: ExclusionLimit

  /// Lets `count` procedures of a category start in each `interval`.
  ///
  /// A count of less than one, and an interval that is not longer than zero, are programmer errors, and trap.
  public init(_ count: Int, per interval: Duration, of category: ExclusionCategory) {
    self.interval = interval
    limit = ExclusionLimit(category, atMost: count, per: interval)
  }

  /// For example `RateLimit(10, per: 1.0 seconds, of: example.org)`.
  public var name: String {
    "RateLimit(\(limit.count), per: \(interval), of: \(limit.category.text))"
  }

  /// Always satisfied: the waiting comes later, with the slot.
  public func evaluate(_ procedure: Procedure) -> ConditionResult { .satisfied }

  /// Lets none with this category and interval start before `duration` has passed, as when a server says
  /// `Retry-After`.
  ///
  /// Started procedures go on. A pause that ends later stays. You may call it on any thread.
  ///
  /// - Parameters:
  ///   - duration: the length of the pause; zero or less is none.
  ///   - clock: that of the queues; nil for the one on which procedures of the category started last, or else
  ///     the machine's.
  public func pause(for duration: Duration, clock: TimerClock? = nil) {
    pauseRates(for: duration, on: clock)
  }
}

extension Condition {
  /// Pauses each rate that it is, or consists of.
  package func pauseRates(for duration: Duration, on clock: TimerClock?) {
    for limit in exclusionLimits where limit.category.interval != nil {
      ExclusionTable.shared.withLock { $0.pause(limit.category, for: duration, on: clock) }
    }
  }
}

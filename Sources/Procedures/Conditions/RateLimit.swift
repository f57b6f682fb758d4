internal import ProcedureExclusion
internal import ProcedurePrimitives

/// A condition that limits how many procedures of one category start in each interval.
///
/// ```swift
/// // The server takes ten requests a second, and at most six at once.
/// let host = ExclusionCategory(named: url.host() ?? "")
/// fetch.add(condition: RateLimit(10, per: .seconds(1), of: host))
/// fetch.add(condition: AtMost(6, of: host))
/// ```
///
/// No interval of that length, at any point in time, has more than `count` starts. A procedure
/// acquires its start together with its slot and all other categories, in one step, by priority and
/// then first come, first served: procedures that have waited for a slot do not start in a burst.
/// As with `AtMost`, a later procedure that is no more urgent does not overtake. A procedure that
/// is cancelled before it has started uses no start.
///
/// After an interval without starts, up to `count` start at once. For a strict server spread them
/// evenly: write ten a second as `RateLimit(1, per: .milliseconds(100), of:)`. If the queue's
/// threads are blocked, a procedure waits for a thread after its start was granted, and may then
/// execute sooner after its predecessor than the rate says.
///
/// Conditions with equal categories and the same interval share their starts; each procedure
/// respects its own count. A rate is independent of the places that `AtMost` counts for the same
/// category. For two intervals, such as ten a second and a thousand an hour, add two conditions.
///
/// ## Clock
/// Time is measured by the queue's clock, which is virtual in a simulation. Give tests an
/// `ExclusionDomain` of their own: a category has one clock at a time, and starts of another clock
/// do not count.
///
/// ## Groups
/// A group's start counts once; starts of its descendants count only if they have the condition
/// themselves. To count each attempt of a `RetryProcedure`, add the condition to the attempts.
///
/// ## Cost
/// No thread waits, and no timer is set before a procedure has to wait. The condition costs two to
/// four microseconds for each procedure, and some 16 bytes for each start that still counts.
public struct RateLimit: ExclusionCondition {
  let limit: ExclusionLimit

  /// Lets `count` procedures of a category start in each `interval`.
  ///
  /// A count below one, and an interval of zero or less, are programmer errors, and trap.
  public init(_ count: Int, per interval: Duration, of category: ExclusionCategory) {
    limit = ExclusionLimit(category, atMost: count, per: interval)
  }

  /// For example `RateLimit(10, per: 1.0 seconds, of: example.org)`.
  public var name: String {
    let category = limit.inner.category
    return "RateLimit(\(limit.count), per: \(category.interval ?? .zero), of: \(category.text))"
  }

  /// Always satisfied: the procedure waits later, together with its slot.
  public func evaluate(_ procedure: Procedure) -> ConditionResult { .satisfied }

  /// Stops procedures with this category and interval from starting until `duration` has passed, as
  /// when a server sends `Retry-After`.
  ///
  /// Started procedures go on. An earlier pause that ends later stays in effect. You may call it on
  /// any thread.
  ///
  /// - Parameters:
  ///   - duration: the length of the pause; zero or less has no effect.
  ///   - clock: the clock of the queues; nil for the clock on which procedures of the category
  ///     started last, or else the machine's.
  public func pause(for duration: Duration, clock: TimerClock? = nil) {
    pauseRates(for: duration, on: clock)
  }
}

extension Condition {
  /// Pauses each rate among its limits.
  package func pauseRates(for duration: Duration, on clock: TimerClock?) {
    for category in exclusionLimits.map(\.inner.category) where category.interval != nil {
      ExclusionTable.shared.withLock { $0.pause(category, for: duration, on: clock?.service) }
    }
  }
}

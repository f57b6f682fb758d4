internal import ProcedurePrimitives

/// Decides how long to wait before each further attempt of a repeat or a retry.
///
/// ```swift
/// let wait = WaitStrategy.exponential(period: .milliseconds(100), maximum: .seconds(5))
/// queue.add(RetryProcedure(max: 5, wait: wait.jittered()) { Fetch(url) })
/// ```
///
/// The first interval stands before the second attempt. Each repeat or retry counts from the start.
/// Intervals are never negative; with an `iterator`, nothing is attempted after its last.
public struct WaitStrategy: Sequence, Sendable {
  /// How the next interval is made. A rule moves on when it gives one.
  fileprivate enum Rule: Sendable {
    case constant(Duration)
    case incrementing(next: Duration, by: Duration, maximum: Duration)
    case exponential(next: Duration, power: Double, maximum: Duration)
    case fibonacci(next: Duration, afterNext: Duration, maximum: Duration)
    case random(minimum: Duration, maximum: Duration)
    case iterator(any IteratorProtocol<Duration> & Sendable)
  }

  fileprivate var rule: Rule
  fileprivate var jitter = 0.0
  fileprivate var generator: any RandomNumberGenerator & Sendable = SurroundingGenerator()

  private init(_ rule: Rule) {
    self.rule = rule
  }

  /// A maximum that is longer than any wait.
  public static let unlimited = Duration.seconds(Int64.max)

  /// No wait.
  public static let immediate = WaitStrategy.constant(.zero)

  /// The same interval each time.
  public static func constant(_ interval: Duration) -> WaitStrategy {
    WaitStrategy(.constant(interval))
  }

  /// An interval that grows by `increment` each time: 0, 3, 6, 9 for an `initial` of 0 and an
  /// increment of 3.
  public static func incrementing(
    initial: Duration, increment: Duration, maximum: Duration = unlimited
  ) -> WaitStrategy {
    WaitStrategy(.incrementing(next: initial, by: increment, maximum: maximum))
  }

  /// An interval that is multiplied by `power` each time: 1, 2, 4, 8 seconds for a `period` of one
  /// second.
  public static func exponential(
    power: Double = 2, period: Duration, maximum: Duration = unlimited
  ) -> WaitStrategy {
    WaitStrategy(.exponential(next: period, power: power, maximum: maximum))
  }

  /// The sum of the two previous intervals each time: 0, 1, 1, 2, 3, 5 seconds for a `period` of
  /// one second.
  public static func fibonacci(
    period: Duration, maximum: Duration = unlimited
  ) -> WaitStrategy {
    WaitStrategy(.fibonacci(next: .zero, afterNext: period, maximum: maximum))
  }

  /// A uniformly random interval each time.
  public static func random(minimum: Duration = .zero, maximum: Duration) -> WaitStrategy {
    WaitStrategy(.random(minimum: minimum, maximum: maximum))
  }

  /// The intervals of `iterator`. No attempt follows the last one.
  public static func iterator(
    _ iterator: some IteratorProtocol<Duration> & Sendable
  ) -> WaitStrategy {
    WaitStrategy(.iterator(iterator))
  }

  /// Shortens each interval at random, so that many waiting procedures do not try again at the same
  /// moment.
  ///
  /// - Parameter fraction: the largest part that is cut off: 0.2 leaves 80 to 100 %, 1 leaves 0 to
  ///   100 %.
  public func jittered(by fraction: Double = 1) -> WaitStrategy {
    var strategy = self
    // Not a number is not greater than zero.
    strategy.jitter = fraction > 0 ? Swift.min(fraction, 1) : 0
    return strategy
  }

  /// Draws random numbers from `generator`. Each repeat or retry uses its own copy.
  ///
  /// A generator with a seed repeats the same intervals. Without one the seed of a simulation does.
  public func drawing(
    from generator: some RandomNumberGenerator & Sendable
  ) -> WaitStrategy {
    var strategy = self
    strategy.generator = generator
    return strategy
  }

  /// The intervals, from the first.
  public func makeIterator() -> Iterator { Iterator(self) }

  /// The intervals of a strategy, one after the other.
  public struct Iterator: IteratorProtocol, Sendable {
    private var strategy: WaitStrategy

    fileprivate init(_ strategy: WaitStrategy) {
      self.strategy = strategy
    }

    /// The next interval; nil when there is no further attempt.
    public mutating func next() -> Duration? {
      guard let interval = strategy.rule.next(&strategy.generator) else { return nil }
      guard strategy.jitter > 0 else { return Swift.max(interval, .zero) }
      let factor = draw(from: 1 - strategy.jitter, &strategy.generator)
      return Swift.max(interval, .zero).saturatingMultiplied(by: factor)
    }
  }
}

extension WaitStrategy.Rule {
  fileprivate mutating func next(
    _ generator: inout any RandomNumberGenerator & Sendable
  ) -> Duration? {
    switch self {
    case .constant(let interval):
      return interval
    case .incrementing(let next, let increment, let maximum):
      // It stops growing beyond the maximum, so that it cannot overflow.
      if next < maximum {
        self = .incrementing(
          next: next.saturatingAdding(increment), by: increment, maximum: maximum)
      }
      return min(next, maximum)
    case .exponential(let next, let power, let maximum):
      let interval = min(next, maximum)
      self = .exponential(
        next: interval.saturatingMultiplied(by: power), power: power, maximum: maximum)
      return interval
    case .fibonacci(let next, let afterNext, let maximum):
      if next < maximum {
        self = .fibonacci(
          next: afterNext, afterNext: next.saturatingAdding(afterNext), maximum: maximum)
      }
      return min(next, maximum)
    case .random(let minimum, let maximum):
      let span = maximum.saturatingSubtracting(minimum)
      let part = span.saturatingMultiplied(by: draw(from: 0, &generator))
      // Rounding may have made the sum longer than the maximum.
      return min(minimum.saturatingAdding(part), max(minimum, maximum))
    case .iterator(var iterator):
      defer { self = .iterator(iterator) }
      return iterator.next()
    }
  }
}

private func draw(from low: Double, _ generator: inout some RandomNumberGenerator) -> Double {
  .random(in: low...1, using: &generator)
}

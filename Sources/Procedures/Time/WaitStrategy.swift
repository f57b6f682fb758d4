/// How long to wait before each further attempt of a repeat or retry.
///
/// ```swift
/// RetryProcedure(max: 5, wait: .exponential(period: .milliseconds(100), maximum: .seconds(5)).jittered()) {
///   Fetch(url)
/// }
/// ```
///
/// The first interval stands before the second attempt. Each repeat or retry counts from the start.
/// Intervals are never negative; with an `iterator`, nothing is attempted after its last.
public struct WaitStrategy: Sendable {
  enum Rule: Sendable {
    case constant(Duration)
    case incrementing(initial: Duration, increment: Duration, maximum: Duration)
    case exponential(power: Double, period: Duration, maximum: Duration)
    case fibonacci(period: Duration, maximum: Duration)
    case random(minimum: Duration, maximum: Duration)
    case iterator(any IteratorProtocol<Duration> & Sendable)
  }

  let rule: Rule
  private(set) var jitter = 0.0
  private(set) var generator: any RandomNumberGenerator & Sendable = SurroundingGenerator()

  private init(_ rule: Rule) {
    self.rule = rule
  }

  /// Longer than any wait: where no maximum is given.
  public static let unlimited = Duration.seconds(Int64.max)

  /// Not at all.
  public static let immediate = WaitStrategy.constant(.zero)

  /// Always the same.
  public static func constant(_ interval: Duration) -> WaitStrategy {
    WaitStrategy(.constant(interval))
  }

  /// Longer by the same each time: with 0 and 3, that is 0, 3, 6, 9.
  public static func incrementing(
    initial: Duration, increment: Duration, maximum: Duration = unlimited
  ) -> WaitStrategy {
    WaitStrategy(.incrementing(initial: initial, increment: increment, maximum: maximum))
  }

  /// Longer by the same factor each time: with 2 and a second, that is 1, 2, 4, 8.
  public static func exponential(
    power: Double = 2, period: Duration, maximum: Duration = unlimited
  ) -> WaitStrategy {
    WaitStrategy(.exponential(power: power, period: period, maximum: maximum))
  }

  /// The sum of the two before each time: with a second, that is 0, 1, 1, 2, 3, 5.
  public static func fibonacci(
    period: Duration, maximum: Duration = unlimited
  ) -> WaitStrategy {
    WaitStrategy(.fibonacci(period: period, maximum: maximum))
  }

  /// Drawn anew each time, all equally likely.
  public static func random(minimum: Duration = .zero, maximum: Duration) -> WaitStrategy {
    WaitStrategy(.random(minimum: minimum, maximum: maximum))
  }

  /// Whatever `iterator` says; nothing is attempted after its last.
  public static func iterator(
    _ iterator: some IteratorProtocol<Duration> & Sendable
  ) -> WaitStrategy {
    WaitStrategy(.iterator(iterator))
  }

  /// Shortens each interval at random, so that many waiters do not come back at the same moment.
  ///
  /// - Parameter fraction: how much at most: 0.2 leaves 80 to 100 %, 1 leaves 0 to 100 %.
  public func jittered(by fraction: Double = 1) -> WaitStrategy {
    var strategy = self
    // Not a number is not greater than zero.
    strategy.jitter = fraction > 0 ? min(fraction, 1) : 0
    return strategy
  }

  /// Draws from `generator`, of which each repeat or retry uses a copy of its own.
  ///
  /// With a generator that a seed repeats, the same intervals come again. Without one they do in a simulation, whose seed
  /// decides about them, too.
  public func drawing(
    from generator: some RandomNumberGenerator & Sendable
  ) -> WaitStrategy {
    var strategy = self
    strategy.generator = generator
    return strategy
  }

  /// The intervals, from the first.
  public func makeIterator() -> WaitIterator { WaitIterator(self) }
}

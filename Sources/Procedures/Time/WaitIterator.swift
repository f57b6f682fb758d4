internal import ProcedurePrimitives

/// The intervals of a `WaitStrategy`, one after the other.
public struct WaitIterator: IteratorProtocol, Sendable {
  private let rule: WaitStrategy.Rule
  private let jitter: Double
  private var generator: any RandomNumberGenerator & Sendable
  /// The next interval, and with Fibonacci the one after that.
  private var upcoming: (Duration, Duration)
  private var custom: (any IteratorProtocol<Duration> & Sendable)?

  init(_ strategy: WaitStrategy) {
    rule = strategy.rule
    jitter = strategy.jitter
    generator = strategy.generator
    switch strategy.rule {
    case .constant(let interval): upcoming = (interval, .zero)
    case .incrementing(let initial, _, _): upcoming = (initial, .zero)
    case .exponential(_, let period, _): upcoming = (period, .zero)
    case .fibonacci(let period, _): upcoming = (.zero, period)
    case .random: upcoming = (.zero, .zero)
    case .iterator(let iterator):
      upcoming = (.zero, .zero)
      custom = iterator
    }
  }

  /// The next interval; nil when nothing is to be attempted any more.
  public mutating func next() -> Duration? {
    guard let interval = nextUnjittered() else { return nil }
    guard jitter > 0 else { return max(interval, .zero) }
    let factor = Self.draw(from: 1 - jitter, to: 1, &generator)
    return max(interval, .zero).saturatingMultiplied(by: factor)
  }

  private mutating func nextUnjittered() -> Duration? {
    switch rule {
    case .constant(let interval):
      return interval
    case .incrementing(_, let increment, let maximum):
      let interval = min(upcoming.0, maximum)
      // Beyond the maximum, so that it cannot overflow.
      if upcoming.0 < maximum { upcoming.0 = upcoming.0.saturatingAdding(increment) }
      return interval
    case .exponential(let power, _, let maximum):
      let interval = min(upcoming.0, maximum)
      upcoming.0 = interval.saturatingMultiplied(by: power)
      return interval
    case .fibonacci(_, let maximum):
      let interval = min(upcoming.0, maximum)
      if upcoming.0 < maximum { upcoming = (upcoming.1, upcoming.0.saturatingAdding(upcoming.1)) }
      return interval
    case .random(let minimum, let maximum):
      let span = maximum.saturatingSubtracting(minimum)
      let part = span.saturatingMultiplied(by: Self.draw(from: 0, to: 1, &generator))
      // Rounding may have made it longer than it was.
      return min(minimum.saturatingAdding(part), max(minimum, maximum))
    case .iterator:
      return custom?.next()
    }
  }

  private static func draw(
    from low: Double, to high: Double, _ generator: inout some RandomNumberGenerator
  ) -> Double {
    .random(in: low...high, using: &generator)
  }
}

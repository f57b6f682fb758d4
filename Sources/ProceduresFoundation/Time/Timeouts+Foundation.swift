public import Foundation

// Seconds, for functions that take a `Duration`: zero, negative values and NaN mean no time,
// infinity means the longest `Duration`. `.zero` is always the `Duration`.

/// Timeouts in seconds.
extension ProcedureProtocol {
  /// Cancels the procedure if it has not finished `seconds` seconds after its start.
  ///
  /// ```swift
  /// queue.add(Fetch(url).timeout(after: 2.5))
  /// ```
  ///
  /// Zero, negative values and NaN cancel at once.
  ///
  /// - Returns: this procedure.
  @_disfavoredOverload @discardableResult
  public func timeout(after seconds: TimeInterval) -> Self {
    timeout(after: Duration(saturating: seconds))
  }
}

/// Timeouts in seconds.
extension TimeoutObserver {
  /// Makes an observer that cancels a procedure after `seconds` seconds.
  @_disfavoredOverload
  public init(by seconds: TimeInterval) { self.init(by: Duration(saturating: seconds)) }
}

/// Waits between attempts in seconds.
extension RepeatProcedurePayload {
  /// Makes a description of the next attempt, with a wait of `seconds` seconds before it.
  @_disfavoredOverload
  public init(
    procedure: Attempt, delay seconds: TimeInterval,
    configure: (@Sendable (Attempt) -> Void)? = nil
  ) {
    self.init(procedure: procedure, delay: Duration(saturating: seconds), configure: configure)
  }
}

/// Waits between attempts in seconds.
extension WaitStrategy {
  /// Always waits `seconds` seconds.
  @_disfavoredOverload
  public static func constant(_ seconds: TimeInterval) -> WaitStrategy {
    constant(Duration(saturating: seconds))
  }

  /// Waits longer by the same number of seconds each time: with 0 and 3, the waits are 0, 3, 6, 9.
  @_disfavoredOverload
  public static func incrementing(
    initial: TimeInterval, increment: TimeInterval, maximum: TimeInterval = .infinity
  ) -> WaitStrategy {
    incrementing(
      initial: Duration(saturating: initial), increment: Duration(saturating: increment),
      maximum: Duration(saturating: maximum))
  }

  /// Waits longer by the same factor each time: with 2 and a second, the waits are 1, 2, 4, 8.
  @_disfavoredOverload
  public static func exponential(
    power: Double = 2, period: TimeInterval, maximum: TimeInterval = .infinity
  ) -> WaitStrategy {
    exponential(
      power: power, period: Duration(saturating: period), maximum: Duration(saturating: maximum))
  }

  /// Waits for the sum of the previous two waits: with a second, the waits are 0, 1, 1, 2, 3, 5.
  @_disfavoredOverload
  public static func fibonacci(
    period: TimeInterval, maximum: TimeInterval = .infinity
  ) -> WaitStrategy {
    fibonacci(period: Duration(saturating: period), maximum: Duration(saturating: maximum))
  }

  /// A uniformly random wait before each attempt.
  @_disfavoredOverload
  public static func random(
    minimum: TimeInterval = 0, maximum: TimeInterval
  ) -> WaitStrategy {
    random(minimum: Duration(saturating: minimum), maximum: Duration(saturating: maximum))
  }
}

import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct DurationSaturatingTests {
  static let extremes: [Duration] = [
    .longest, .shortest, .seconds(Int64.max), .seconds(Int64.min), .seconds(1e19), .seconds(-1e19),
    .zero, .nanoseconds(1), .nanoseconds(-1), Duration(attoseconds: 1),
  ]

  @Test("any two durations have a sum and a difference, cut at the bounds", arguments: extremes)
  func sums(left: Duration) {
    for right in Self.extremes {
      let (sum, difference) = (left.saturatingAdding(right), left.saturatingSubtracting(right))
      #expect(right < .zero ? sum <= left : sum >= left)
      #expect(right < .zero ? difference >= left : difference <= left)
    }
    #expect(left.saturatingAdding(.zero) == left)
    #expect(left.saturatingSubtracting(left) == .zero)
  }

  @Test("any duration has a product with any number", arguments: extremes)
  func products(duration: Duration) {
    for factor in [
      0, 1, -1, 0.5, 1e300, -1e300, .infinity, -.infinity, .nan, .leastNonzeroMagnitude,
    ] {
      let product = duration.saturatingMultiplied(by: factor)
      if factor.isNaN || factor == 0 || duration == .zero {
        #expect(product == .zero)
      } else if factor > 0 {
        #expect((product < .zero) == (duration < .zero && product != .zero))
      }
    }
    #expect(Duration.seconds(3).saturatingMultiplied(by: 1.5) == .milliseconds(4_500))
    #expect(Duration.seconds(1).saturatingMultiplied(by: 1e300) == .longest)
    #expect(Duration.seconds(1).saturatingMultiplied(by: -1e300) == .shortest)
  }

  @Test("any duration can be added to an instant, and the time since any instant be asked for")
  func instants() {
    let now = ContinuousClock.now
    for duration in Self.extremes {
      let later = now.saturatingAdvanced(by: duration)
      #expect(duration < .zero ? later <= now : later >= now)
      let since = later.durationSince(now)
      #expect(since == (duration <= .zero ? .zero : min(duration, .seconds(Int64.max))))
      #expect(now.durationSince(later) >= .zero)
      // What a user may make of it, on a timer service that is older than a second.
      _ = later.durationSince(now.advanced(by: .seconds(-5))).nanosecondsRoundedUp
    }
    #expect(now.saturatingAdvanced(by: .seconds(2)) == now.advanced(by: .seconds(2)))
  }

  @Test(
    "any duration is a number of nanoseconds, and numbers are ordered as durations",
    arguments: extremes)
  func nanoseconds(duration: Duration) {
    #expect(duration.nanosecondsRoundedUp >= duration.nanosecondsRoundedDown)
    #expect(duration.nanosecondsRoundedUp <= Duration.longest.nanosecondsRoundedUp)
    #expect((duration.nanosecondsRoundedUp == 0) == (duration <= .zero))
  }
}

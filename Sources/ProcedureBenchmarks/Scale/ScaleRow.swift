/// What one side did with one number of threads: the medians of the rounds.
struct ScaleRow: Encodable, Sendable {
  let contest: String
  let side: String
  let threads: Int
  /// Items a second, of all threads together.
  let throughput: Double
  /// Nanoseconds of processor time an item.
  let processorTime: Double
  let switches: Double
  /// Throughput, divided by the throughput of this side with the first number of threads.
  let growth: Double
  /// Our throughput, divided by that of this side; nil for our own. Above 1 ours is ahead.
  let throughputRatio: Double?
  /// Our processor time, divided by that of this side; nil for our own. Below 1 ours is ahead.
  let processorTimeRatio: Double?
  /// Acquisitions of a lock that had to wait, for 1,000 items; nil if they are not counted.
  let waits: Double?
  /// Failed compare-exchanges, for 1,000 items; nil if they are not counted.
  let failures: Double?

  /// - Parameters:
  ///   - samples: one for each round.
  ///   - alone: the samples with the first number of threads.
  ///   - ours: our samples with the same number of threads; nil if this is our side.
  init(
    contest: String, side: String, threads: Int, samples: [ScaleSample], alone: [ScaleSample],
    ours: [ScaleSample]?
  ) {
    (self.contest, self.side, self.threads) = (contest, side, threads)
    throughput = samples.map(\.throughput).quantile(0.5)
    processorTime = samples.map(\.processorTime).quantile(0.5)
    switches = samples.map(\.switches).quantile(0.5)
    growth = Self.ratio(samples, alone, \.throughput)
    throughputRatio = ours.map { Self.ratio($0, samples, \.throughput) }
    processorTimeRatio = ours.map { Self.ratio($0, samples, \.processorTime) }
    let (waits, failures) = (samples.compactMap(\.waits), samples.compactMap(\.failures))
    self.waits = waits.isEmpty ? nil : waits.quantile(0.5) * 1_000
    self.failures = failures.isEmpty ? nil : failures.quantile(0.5) * 1_000
  }

  /// The median of the ratios of each round.
  private static func ratio(
    _ one: [ScaleSample], _ other: [ScaleSample], _ value: (ScaleSample) -> Double
  ) -> Double {
    zip(one, other).map { value($0) / value($1) }.quantile(0.5)
  }
}

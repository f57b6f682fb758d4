internal import ProcedurePrimitives

/// The clock of a recorded queue, in nanoseconds since the recording began.
package final class RecordClock: Sendable {
  let service: any TimerService
  /// When the recording began.
  package let origin: ContinuousClock.Instant

  init(_ service: any TimerService) {
    self.service = service
    origin = service.now
  }

  /// What time it is.
  package var now: Int64 { Self.nanoseconds(origin.duration(to: service.now).attoseconds) }

  /// Whole nanoseconds, without a division of 128 bits: this is read several times for each procedure.
  ///
  /// In units of 2²⁹ attoseconds, which are finer than a nanosecond, 314 years fit into 64 bits. Rounded
  /// down to these and then up to nanoseconds, a whole number of nanoseconds is what it was.
  private static func nanoseconds(_ attoseconds: Int128) -> Int64 {
    let units = UInt64(truncatingIfNeeded: attoseconds >> 29)
    // 2²⁹ / 10⁹ = 2²⁰ / 1,953,125
    let (whole, rest) = units.quotientAndRemainder(dividingBy: 1_953_125)
    return Int64(truncatingIfNeeded: whole << 20 + (rest << 20 + 1_953_124) / 1_953_125)
  }
}

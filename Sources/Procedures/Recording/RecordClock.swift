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
  package var now: Int64 {
    Int64(clamping: origin.duration(to: service.now).attoseconds / 1_000_000_000)
  }
}

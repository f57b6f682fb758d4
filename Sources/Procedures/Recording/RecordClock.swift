internal import Dispatch
internal import ProcedurePrimitives

/// The clock of a recorded queue, in nanoseconds since the recording began.
package final class RecordClock: Sendable {
  let service: any TimerService
  /// When the recording began.
  package let origin: ContinuousClock.Instant
  /// The same by the machine's uptime; nil if the queue has another clock than the machine's.
  private let uptime: UInt64?

  init(_ service: any TimerService) {
    self.service = service
    origin = service.now
    uptime = service === DispatchTimers.shared ? DispatchTime.now().uptimeNanoseconds : nil
  }

  /// What time it is.
  ///
  /// The machine's is read as a number, in half the instructions of an instant: this is called several
  /// times for each procedure. While the machine sleeps it stands still.
  package var now: Int64 {
    guard let uptime else {
      return Int64(clamping: service.now.durationSince(origin).nanosecondsRoundedUp)
    }
    return Int64(truncatingIfNeeded: DispatchTime.now().uptimeNanoseconds &- uptime)
  }
}

internal import Dispatch
internal import ProcedurePrimitives

/// The clock of a recorded queue, in nanoseconds since the process recorded for the first time.
package struct RecordClock: Sendable {
  /// The beginning of the recording, by the continuous clock and by the machine's uptime.
  private static let beginning = (
    instant: ContinuousClock.now, uptime: DispatchTime.now().uptimeNanoseconds
  )

  package static var origin: ContinuousClock.Instant { beginning.instant }

  private let service: any TimerService
  /// The uptime at that beginning, for the machine's clock; nil for others.
  private let uptimeThen: UInt64?

  /// Whether it is the machine's clock, which keeps pace with the time of day. The clock of a test
  /// does not.
  package var isOfMachine: Bool { uptimeThen != nil }

  init(_ service: any TimerService) {
    self.service = service
    uptimeThen = service === DispatchTimers.shared ? Self.beginning.uptime : nil
  }

  /// The time now.
  ///
  /// The machine's clock is read as a number, in half the instructions of an instant: this is
  /// called several times for each procedure. It stands still while the machine sleeps.
  package var now: Int64 {
    if let uptimeThen {
      return Int64(truncatingIfNeeded: DispatchTime.now().uptimeNanoseconds &- uptimeThen)
    }
    let (seconds, attoseconds) = Self.origin.duration(to: service.now).components
    // A virtual clock may be some centuries ahead.
    if abs(seconds) > 9_000_000_000 { return seconds < 0 ? -Int64.max : .max }
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}

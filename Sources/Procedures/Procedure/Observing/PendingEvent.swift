internal import ProcedurePrimitives

/// Holds its event back, as long as a reference to it is kept.
///
/// Keep it beyond the observer's return to make the procedure wait before it executes or finishes;
/// call `release()`, or drop all references to it, to let the event go on. It cannot be forgotten:
/// its `deinit` releases it. A cancel or a `finish()` before `execute()` ends the hold of an
/// execute event.
///
/// ```swift
/// procedure.addWillFinishBlockObserver { procedure, errors, pendingFinish in
///   upload(log) { pendingFinish.release() }   // finishes when the log is uploaded
/// }
/// ```
public final class PendingEvent: Sendable {
  private enum Status {
    /// The observer has not returned.
    static let offered: UInt8 = 0
    /// The observer has returned, and a reference to the event was kept.
    static let held: UInt8 = 1
    static let released: UInt8 = 2
  }

  private let procedure: Procedure
  private let event: HoldableEvent
  private let status = AtomicByte(Status.offered)

  init(_ event: HoldableEvent, of procedure: Procedure) {
    self.event = event
    self.procedure = procedure
  }

  deinit {
    release()
  }

  /// Lets the event go on. Later calls do nothing. Call it from any thread.
  public func release() {
    guard status.exchange(Status.released) == Status.held else { return }
    procedure.post(.release(event))
  }

  /// The observer has returned and may have kept a reference to the event. Holds the procedure
  /// unless the event was released already.
  func hold() {
    procedure.post(.hold(event))
    if !status.compareExchange(Status.offered, Status.held) {
      procedure.post(.release(event))
    }
  }
}

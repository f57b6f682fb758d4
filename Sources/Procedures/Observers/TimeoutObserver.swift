internal import ProcedurePrimitives

/// Cancels a procedure that has not finished some time after it started.
///
/// ```swift
/// procedure.add(observer: TimeoutObserver(by: .seconds(10)))
/// ```
///
/// The time counts from the willExecute event: waiting for dependencies and for a slot does not
/// count. If the procedure has already started, the time counts from the moment of adding. The
/// procedure is cancelled with `ProcedureError.Code.timedOut`; a procedure that ignores its cancel
/// goes on. A duration of zero or less cancels before `execute()` is called. One observer may be
/// added to several procedures; each has its own time. The shortest time of several observers
/// applies. `isCancelled` becomes true in time even if every thread of Dispatch's global queues is
/// blocked; delivering the cancel needs a free one.
public struct TimeoutObserver: ProcedureObserver, BeginsWithStart {
  private let duration: Duration

  /// Makes an observer that cancels a procedure after `duration`.
  public init(by duration: Duration) {
    self.duration = duration
  }

  /// The event from which the time counts.
  public var events: ProcedureEvents { .willExecute }

  /// Starts the time.
  public func will(execute procedure: Procedure, pendingExecute: PendingEvent) {
    start(for: procedure)
  }

  func start(for procedure: Procedure) {
    guard duration > .zero else {
      let error = ProcedureError(.timedOut, of: procedure.name, .duration(duration))
      procedure.cancel(withError: error)
      return
    }
    let clock = procedure.clock
    procedure.schedule(
      CancelTimer(procedure, after: duration), at: clock.now.saturatingAdvanced(by: duration),
      on: clock)
  }
}

private final class CancelTimer: TimerTarget {
  /// The pending action, which retains the procedure. The thread that performs it takes it out, so
  /// that the procedure is not deallocated on the timer thread.
  private enum Remainder: Sendable {
    case none
    case cancel(Procedure)
    case rest(@Sendable () -> Void)
  }

  private let next: Locked<Remainder>
  private let duration: Duration

  init(_ procedure: Procedure, after duration: Duration) {
    next = Locked(.cancel(procedure))
    self.duration = duration
  }

  func timerFired() {
    guard let service = begin() else { return }
    service.deliver { [self] in
      if case .rest(let rest) = next.withLock({ exchange(&$0, with: .none) }) { rest() }
    }
  }

  private func begin() -> (any TimerService)? {
    guard case .cancel(let procedure) = next.withLock({ $0 }) else { return nil }
    let error = ProcedureError(.timedOut, of: procedure.name, .duration(duration))
    let (_, rest) = Procedure.beginCancel([procedure], errors: [error], reason: .failure(error))
    next.withLock { $0 = .rest(rest) }
    return procedure.clock.service
  }
}

extension ProcedureProtocol {
  /// Cancels the procedure if it has not finished this long after it started.
  ///
  /// ```swift
  /// queue.add(Fetch(url).timeout(after: .seconds(10)))
  /// ```
  ///
  /// It adds a `TimeoutObserver`. The time counts from willExecute, or from now if the procedure
  /// has started, so `queue.add { … }.timeout(after:)` limits the closure. It is measured by the
  /// queue's clock, and the error of the cancel is `ProcedureError.Code.timedOut`. Zero or less
  /// cancels the procedure when it starts, before `execute()`, or now if it has started. The
  /// shortest of several timeouts applies.
  ///
  /// - Returns: this procedure.
  @discardableResult
  public func timeout(after duration: Duration) -> Self {
    add(observer: TimeoutObserver(by: duration))
    return self
  }
}

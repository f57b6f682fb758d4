internal import ProcedurePrimitives

/// Cancels a procedure that has not finished some time after it started.
///
/// ```swift
/// procedure.add(observer: TimeoutObserver(by: .seconds(10)))
/// ```
///
/// The time counts from the willExecute event: waiting for dependencies and for a slot does not
/// count. Added to a procedure that has started, it counts from that moment. The procedure is cancelled with `ProcedureError.Code.timedOut`; a procedure that ignores
/// its cancel goes on. Zero or less cancels before `execute()` is called. One observer may be added to
/// several procedures; each has its own time. With several observers the shortest counts.
/// `isCancelled` reads true in time also when each thread of Dispatch's global queues is held;
/// delivering the cancel needs one.
public struct TimeoutObserver: ProcedureObserver, BeginsWithStart {
  private let duration: Duration

  /// Makes an observer that gives a procedure this much time.
  public init(by duration: Duration) {
    self.duration = duration
  }

  /// The time counts from here.
  public var events: ProcedureEvents { .willExecute }

  /// Starts the time.
  public func will(execute procedure: Procedure, pendingExecute: PendingEvent) {
    start(for: procedure)
  }

  /// The time of a procedure that has received its willExecute event, or will not receive it any more.
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

/// Cancels a procedure when its time is up.
private final class CancelTimer: TimerTarget {
  /// The pending action, which keeps the procedure alive: the thread that does it takes it out, since the
  /// procedure must not go on that of the timers.
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
  /// Short for adding a `TimeoutObserver`: the time counts from willExecute, or from now if the procedure has
  /// started, so that `queue.add { … }.timeout(after:)` bounds the closure. It is on the queue's clock,
  /// and the cancel has the error `ProcedureError.Code.timedOut`. At zero or less it is cancelled
  /// at once. The shortest of several has effect.
  ///
  /// - Returns: this procedure.
  @discardableResult
  public func timeout(after duration: Duration) -> Self {
    add(observer: TimeoutObserver(by: duration))
    return self
  }
}

internal import ProcedurePrimitives

/// What a queue reports, to whom, and after how long.
final class QueueDiagnostics: Sendable {
  typealias Handler = @Sendable (ProcedureDiagnostic) -> Void

  private struct Settings: Sendable {
    var handler: Handler?
    var gracePeriod: Duration?
    var waitReportDelay: Duration? = .seconds(10)
  }

  private let settings = Locked(Settings())

  /// Whether any queue has ever had a grace period: without one a cancel need not ask its queue.
  static let hasGracePeriods = AtomicByte(0)

  var handler: Handler? {
    get { settings.withLock { $0.handler } }
    set {
      // What is replaced is released after the lock.
      let replaced = settings.withLock { settings in
        defer { settings.handler = newValue }
        return settings.handler
      }
      _ = replaced
    }
  }

  var gracePeriod: Duration? {
    get { settings.withLock { $0.gracePeriod } }
    set {
      if newValue != nil { Self.hasGracePeriods.store(1) }
      settings.withLock { $0.gracePeriod = newValue }
    }
  }

  var waitReportDelay: Duration? {
    get { settings.withLock { $0.waitReportDelay } }
    set { settings.withLock { $0.waitReportDelay = newValue } }
  }

  /// After how long a wait is to be reported; nil if nobody wants to know.
  var overdueDelay: Duration? {
    settings.withLock { $0.handler == nil ? nil : $0.waitReportDelay }
  }

  func report(_ diagnostic: @autoclosure () -> ProcedureDiagnostic) {
    guard let handler else { return }
    handler(diagnostic())
  }
}

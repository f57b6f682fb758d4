internal import ProcedurePrimitives

/// What a queue reports, to which handler, and after how long.
final class QueueDiagnostics: Sendable {
  typealias Handler = @Sendable (ProcedureDiagnostic) -> Void

  private struct Settings: Sendable {
    var queueName = "ProcedureQueue"
    var handler: Handler?
    var refusalRecorder: Handler?
    var gracePeriod: Duration?
    var waitReportDelay: Duration? = .seconds(10)
  }

  private let settings = Locked(Settings())

  /// Whether any queue has ever had a grace period: without one a cancel need not ask its queue.
  static let hasGracePeriods = AtomicByte(0)

  /// Whether any queue has ever had a handler.
  static let hasHandlers = AtomicByte(0)

  /// What a finished procedure keeps of its queue, for a `finish` that comes too late.
  final class LateFinishes: @unchecked Sendable {
    /// Set once, before anything else sees it.
    fileprivate(set) weak var diagnostics: QueueDiagnostics?
  }

  let lateFinishes = LateFinishes()

  init() {
    lateFinishes.diagnostics = self
  }

  var handler: Handler? {
    get { settings.withLock { $0.handler } }
    set {
      if newValue != nil { Self.hasHandlers.store(1) }
      // What is replaced is released after the lock.
      let replaced = settings.withLock { settings in
        defer { settings.handler = newValue }
        return settings.handler
      }
      _ = replaced
    }
  }

  /// Called with each refusal, beside the handler.
  var refusalRecorder: Handler? {
    get { settings.withLock { $0.refusalRecorder } }
    set {
      let replaced = settings.withLock { settings in
        defer { settings.refusalRecorder = newValue }
        return settings.refusalRecorder
      }
      _ = replaced
    }
  }

  /// What the queue is called.
  var queueName: String {
    get { settings.withLock { $0.queueName } }
    set { settings.withLock { $0.queueName = newValue } }
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

  /// After how long a wait is to be reported; nil if there is no handler.
  var overdueDelay: Duration? {
    settings.withLock { $0.handler == nil ? nil : $0.waitReportDelay }
  }

  /// Reports that a queue or group has refused a procedure.
  func reportRefusal(_ diagnostic: @autoclosure () -> ProcedureDiagnostic) {
    let (handler, recorder) = settings.withLock { ($0.handler, $0.refusalRecorder) }
    guard handler != nil || recorder != nil else { return }
    let diagnostic = diagnostic()
    recorder?(diagnostic)
    handler?(diagnostic)
  }

  func report(_ diagnostic: @autoclosure () -> ProcedureDiagnostic) {
    guard let handler else { return }
    handler(diagnostic())
  }
}

internal import ProcedurePrimitives

/// Looks once, after a while, whether something is still the case.
final class OverdueTimer: TimerTarget {
  typealias Look = @Sendable (Procedure, _ age: Duration) -> ProcedureDiagnostic?

  private let procedure: Procedure
  private let start: ContinuousClock.Instant
  private let diagnostics: QueueDiagnostics
  private let look: Look

  init(
    _ procedure: Procedure, since start: ContinuousClock.Instant,
    for diagnostics: QueueDiagnostics, _ look: @escaping Look
  ) {
    self.procedure = procedure
    self.start = start
    self.diagnostics = diagnostics
    self.look = look
  }

  func timerFired() {
    diagnostics.clock.service.deliver { [procedure, start, diagnostics, look] in
      if let diagnostic = look(procedure, diagnostics.clock.now - start) {
        diagnostics.report(diagnostic)
      }
    }
  }
}

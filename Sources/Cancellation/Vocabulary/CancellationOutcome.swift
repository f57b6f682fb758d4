enum CancellationOutcome: Sendable {
  case cancelled(CancellationReason)
  case notCancelled

  var isCancelled: Bool { if case .cancelled = self { true } else { false } }

  var reason: CancellationReason? {
    if case .cancelled(let reason) = self { reason } else { nil }
  }
}

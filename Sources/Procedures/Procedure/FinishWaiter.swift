/// Someone who waits for a procedure to finish.
struct FinishWaiter: Sendable {
  let continuation: CheckedContinuation<Void, Never>

  func resume() { continuation.resume() }
}

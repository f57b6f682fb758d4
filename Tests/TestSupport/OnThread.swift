internal import Dispatch

/// Runs long synchronous work on a thread of its own, so that it takes none from the test runner.
package func onThreadOfItsOwn<Result: Sendable>(
  _ body: @escaping @Sendable () -> Result
) async -> Result {
  await withCheckedContinuation { continuation in
    DispatchQueue(label: "long work").async { continuation.resume(returning: body()) }
  }
}

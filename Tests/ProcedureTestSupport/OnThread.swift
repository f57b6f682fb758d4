internal import Dispatch
internal import Foundation

/// Runs long synchronous work on a thread of its own, so that it takes none from the test runner.
@discardableResult
package func onThreadOfItsOwn<Result: Sendable>(
  _ body: @escaping @Sendable () -> Result
) async -> Result {
  await withCheckedContinuation { continuation in
    DispatchQueue(label: "long work").async { continuation.resume(returning: body()) }
  }
}

/// As `onThreadOfItsOwn`, on a stack of half a megabyte: what recurses 20,000 deep overflows it.
package func onSmallStack<Result: Sendable>(
  _ body: @escaping @Sendable () -> Result
) async -> Result {
  await withCheckedContinuation { continuation in
    let thread = Thread { continuation.resume(returning: body()) }
    thread.stackSize = 512 * 1024
    thread.start()
  }
}

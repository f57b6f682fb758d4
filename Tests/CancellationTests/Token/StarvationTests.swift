import Cancellation
import Dispatch
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

/// K10: marking needs no thread of Dispatch's shared pools. Each in a process of its own, since it
/// takes all of these threads.
@Suite(.hangLimit) struct StarvationTests {
  @Test(
    "K10: with all threads of the global queues spinning until then, a deadline reads cancelled")
  func spinningPools() async {
    await #expect(processExitsWith: .success) {
      let source = CancellationTokenSource()
      let child = CancellationTokenSource(linkedTo: source.token)
      source.cancel(after: .milliseconds(100))
      let timeout = CancellationToken.timeout(.milliseconds(100))
      let both = timeout && child.token
      let handled = Gate()
      both.onCancel { handled.open() }
      let qualities: [DispatchQoS.QoSClass] = [
        .background, .utility, .default, .userInitiated, .userInteractive,
      ]
      for quality in qualities {
        for _ in 0..<100 {
          DispatchQueue.global(qos: quality).async { while !both.isCancelled {} }
        }
      }
      let isInTime = isSoon { both.isCancelled }
      precondition(isInTime && source.isCancelled && child.isCancelled && timeout.isCancelled)
      // Handlers run once there is a thread.
      await handled.wait()
    }
  }

  @Test("K10: with hundreds of queues of the default quality blocked, a deadline reads cancelled")
  func blockedQueues() async {
    await #expect(processExitsWith: .success) {
      let end = DispatchSemaphore(value: 0)
      for index in 0..<400 { DispatchQueue(label: "\(index)").async { end.wait() } }
      let timeout = CancellationToken.timeout(.milliseconds(50))
      precondition(isSoon { timeout.isCancelled })
      for _ in 0..<400 { end.signal() }
    }
  }

  @Test("K10: handlers that block hold up no other deadline, nor what is marked")
  func blockingHandlers() async {
    await #expect(processExitsWith: .success) {
      let end = DispatchSemaphore(value: 0)
      let sources = (0..<300).map { _ in CancellationTokenSource() }
      for source in sources {
        source.token.onCancel { end.wait() }
        source.cancel(after: .milliseconds(10))
      }
      let later = CancellationTokenSource(timeout: .milliseconds(60))
      precondition(
        isSoon { later.isCancelled && sources.allSatisfy(\.isCancelled) })
      for _ in sources { end.signal() }
    }
  }

  @Test("K5, K10: a handler of a deadline can be taken back until it is called")
  func unregisterAfterTheMark() async {
    await #expect(processExitsWith: .success) {
      let end = DispatchSemaphore(value: 0)
      // All threads for handlers, spare ones too, are blocked, and more work is before them in
      // line.
      for _ in 0..<600 { WorkLine.shared(.default).submit { end.wait() } }
      let source = CancellationTokenSource()
      let registration = source.token.onCancel { preconditionFailure("it was taken back") }
      source.cancel(after: .milliseconds(20))
      precondition(isSoon { source.isCancelled })
      // A late handler is called at once; the first cancel is the deadline's.
      let isCalled = Gate()
      source.token.onCancel { isCalled.open() }
      precondition(isCalled.isOpen && !source.cancel(.requested))
      precondition(registration.remove())
      for _ in 0..<600 { end.signal() }
      let isOver = Gate()
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { isOver.open() }
      await isOver.wait()
    }
  }
}

/// Looks again and again, which needs no thread but this one. False after as long as only a hang
/// takes.
private func isSoon(_ isOver: () -> Bool) -> Bool {
  let end = ContinuousClock.now.advanced(by: .seconds(1_200))
  while !isOver() {
    if ContinuousClock.now > end { return false }
  }
  return true
}

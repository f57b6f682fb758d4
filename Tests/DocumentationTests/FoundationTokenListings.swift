import Foundation
import ProcedureTestSupport
import ProceduresFoundation
import Testing

// listing: token-signal-status
func status(after token: CancellationToken) -> Int32 {
  token.reason?.processSignal?.exitStatus ?? 0
}
// end

@Suite("Listings about tokens of the clock and of signals", .hangLimit)
struct FoundationTokenListings {
  @Test("seconds and dates are durations")
  func dates() {
    let closingTime = Date.distantFuture
    // listing: token-seconds
    let soon: CancellationToken = .timeout(2.5)
    let tonight: CancellationToken = .deadline(closingTime)  // a Date
    // end
    #expect(!soon.isCancelled && !tonight.isCancelled)
  }

  @Test("a signal cancels, in a process of its own")
  func signals() async {
    await #expect(processExitsWith: .signal(SIGINT)) {
      let queue = ProcedureQueue()
      let backup = DelayProcedure(by: 1000)
      // listing: token-signals
      queue.add(backup, cancelledBy: .signals(.interrupt, .terminate))
      // end
      kill(getpid(), SIGINT)
      guard await backup.waitUntilFinished().isCancelled else { exit(1) }
      guard status(after: backup.cancellationToken) == 130 else { exit(2) }
      @Sendable func serve(until token: CancellationToken) async {
        kill(getpid(), SIGINT)
        await token.waitUntilCancelled()
      }
      // listing: token-signals-scope
      await withCancellationToken(signals: .interrupt) { token in
        await serve(until: token)
      }
      // end
      kill(getpid(), SIGINT)
      while true { pause() }
    }
  }
}

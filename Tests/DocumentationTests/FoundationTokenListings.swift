import Foundation
import ProcedureTestSupport
import ProceduresFoundation
import Testing

@Suite("Listings about tokens of the clock and of signals")
struct FoundationTokenListings {
  @Test("seconds and dates")
  func dates() {
    let closingTime = Date.distantFuture
    // listing: token-seconds
    let soon: CancellationToken = .timeout(2.5)
    let tonight: CancellationToken = .deadline(closingTime)  // a Date
    // end
    #expect(!soon.isCancelled && !tonight.isCancelled)
  }

  @Test("signals, in a process apart")
  func signals() async {
    await #expect(processExitsWith: .signal(SIGINT)) {
      let queue = ProcedureQueue()
      let backup = DelayProcedure(by: 1000)
      // listing: token-signals
      queue.add(backup, cancelledBy: .signals(.interrupt, .terminate))
      // end
      kill(getpid(), SIGINT)
      guard await backup.waitUntilFinished().isCancelled else { exit(1) }
      @Sendable func serve(until token: CancellationToken) async {
        kill(getpid(), SIGINT)
        _ = await token.cancelled
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

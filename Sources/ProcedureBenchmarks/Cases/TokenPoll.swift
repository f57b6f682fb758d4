import Dispatch
import Procedures

private let threads = 2

extension Contest {
  /// Asking whether one is cancelled.
  static let tokenPoll = Contest(
    name: "token, poll", count: 20_000_000,
    entries: [
      Entry("token.isCancelled", tally: 0) { count in
        let source = CancellationTokenSource()
        poll(source.token, count)
      },
      Entry("CancellationToken.never.isCancelled", tally: 0) { count in poll(.never, count) },
      Entry("source.isCancelled", tally: 0) { count in poll(CancellationTokenSource(), count) },
      Entry("procedure.isCancelled", tally: 0) { count in poll(NoOperation(), count) },
      Entry("Task.isCancelled", .tasks, share: 10, tally: 0) { count in
        for _ in 0..<count where Task.isCancelled { fatalError("nobody cancelled") }
      },
      Entry("flag under a lock", .byHand, share: 10, tally: 0) { count in
        poll(LockedSource(), count)
      },
    ])

  /// The same on two threads at once: what one of them pays.
  static let tokenPollThreads = Contest(
    name: "token, poll on 2 threads", count: 20_000_000,
    entries: [
      Entry("token.isCancelled", tally: 0) { count in
        let source = CancellationTokenSource()
        DispatchQueue.concurrentPerform(iterations: threads) { _ in poll(source.token, count) }
      },
      Entry("flag under a lock", .byHand, share: 10, tally: 0) { count in
        let source = LockedSource()
        DispatchQueue.concurrentPerform(iterations: threads) { _ in poll(source, count) }
      },
    ])
}

@inline(never)
private func poll(_ token: CancellationToken, _ count: Int) {
  for _ in 0..<count where token.isCancelled { fatalError("nobody cancelled") }
}

@inline(never)
private func poll(_ source: CancellationTokenSource, _ count: Int) {
  for _ in 0..<count where source.isCancelled { fatalError("nobody cancelled") }
}

@inline(never)
private func poll(_ procedure: Procedure, _ count: Int) {
  for _ in 0..<count where procedure.isCancelled { fatalError("nobody cancelled") }
}

@inline(never)
private func poll(_ source: LockedSource, _ count: Int) {
  for _ in 0..<count where source.isCancelled { fatalError("nobody cancelled") }
}

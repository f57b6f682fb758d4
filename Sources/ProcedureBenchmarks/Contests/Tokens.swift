import Procedures
import Synchronization

extension Contest {
  static let tokenPoll = Contest(
    name: "isCancelled of a token", ceiling: 4, aim: 2,
    ours: Side("token.isCancelled", items: 20_000_000, tally: 0) { count in
      let source = CancellationTokenSource()
      poll(source.token, count)
    },
    theirs: flag)

  static let procedurePoll = Contest(
    name: "isCancelled of a procedure", ceiling: 4, aim: 2,
    ours: Side("procedure.isCancelled", items: 20_000_000, tally: 0) { count in
      poll(NoOperation(), count)
    },
    theirs: flag)

  /// The cheapest possible check: one relaxed load.
  private static let flag = Side("atomic flag", items: 20_000_000, tally: 0) { count in
    poll(Flag(), count)
  }

  /// The whole life of a source with one handler.
  static let token = Contest(
    name: "token", ceiling: 0.8, aim: 0.6,
    ours: Side("token source: new, register, cancel", items: 200_000) { count in
      for _ in 0..<count {
        let source = CancellationTokenSource()
        source.token.onCancel { Tally.note() }
        source.cancel()
      }
    },
    theirs: Side("flag and closures under a lock", items: 200_000) { count in
      for _ in 0..<count {
        let source = PlainSource()
        blackHole(source.register { Tally.note() })
        source.cancel()
      }
    })

  static let registration = Contest(
    name: "registration", ceiling: 1.2, aim: 1,
    ours: Side("register, unregister", items: 200_000, tally: 0) { count in
      let source = CancellationTokenSource()
      for _ in 0..<count { source.token.onCancel { Tally.note() }.remove() }
    },
    theirs: Side("the same under a lock", items: 200_000, tally: 0) { count in
      let source = PlainSource()
      for _ in 0..<count { source.unregister(source.register { Tally.note() }) }
    })
}

private final class Flag: Sendable {
  let isCancelled = Atomic(false)
}

@inline(never)
private func poll(_ flag: Flag, _ count: Int) {
  for _ in 0..<count where flag.isCancelled.load(ordering: .relaxed) { fatalError("cancelled") }
}

@inline(never)
private func poll(_ token: CancellationToken, _ count: Int) {
  for _ in 0..<count where token.isCancelled { fatalError("cancelled") }
}

@inline(never)
private func poll(_ procedure: Procedure, _ count: Int) {
  for _ in 0..<count where procedure.isCancelled { fatalError("cancelled") }
}

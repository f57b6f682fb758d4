import Procedures

extension Contest {
  /// The cost of an item of 1,000,000, compared with one of 10,000.
  static let growth = [
    growth("no-op, all pending") { count in
      let queue = ProcedureWork.pending(count)
      queue.isSuspended = false
      await queue.waitUntilAllFinished()
    },
    growth("link of a chain") { count in await ProcedureWork.runChain(count) },
    growth("child of a group") { count in await ProcedureWork.runGroup(count) },
    growth("cancel of a pending no-op", tally: 0) { count in
      await ProcedureWork.cancelAll(ProcedureWork.pending(count))
    },
    growth("delay, schedule + cancel", tally: 0) { count in
      await ProcedureWork.cancelAll(await ProcedureWork.delays(count))
    },
    growth("deadline, schedule + cancel", tally: 0) { count in
      for source in deadlines(count) { source.cancel() }
    },
    growth("registration, register + cancel") { count in
      let source = CancellationTokenSource()
      for _ in 0..<count { source.token.onCancel { Tally.note() } }
      source.cancel()
    },
    growth("linked source, new + cancel of the root", tally: 0) { count in
      let root = CancellationTokenSource()
      let children = (0..<count).map { _ in CancellationTokenSource(linkedTo: root.token) }
      root.cancel()
      expect(children.allSatisfy(\.isCancelled), "a child is not cancelled")
    },
  ]

  private static func growth(
    _ name: String, tally: Int = 1, _ work: @escaping @Sendable (_ count: Int) async -> Void
  ) -> Contest {
    Contest(
      name: "growth, \(name)", ceiling: 1.3, aim: 1.1, mostRounds: 6,
      ours: Side("one of 1,000,000", items: 1_000_000, tally: tally, work),
      theirs: Side("one of 10,000", items: 10_000, repeats: 10, tally: tally, work))
  }
}

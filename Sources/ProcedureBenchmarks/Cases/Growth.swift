import Procedures

private let sizes = [10_000, 1_000_000]

extension Contest {
  /// What a thing costs when there are a hundred times as many of them at once. Those of the no-op
  /// and the chain are among the cases of scale.
  static let growth: [Contest] = [
    growth("procedure, all pending at once") { count in
      let queue = ProcedureQueue()
      queue.isSuspended = true
      for _ in 0..<count { queue.add(NoOperation()) }
      queue.isSuspended = false
      await queue.waitUntilAllFinished()
    },
    growth("child of a group") { count in
      await OwnQueue.run([GroupProcedure(children: (0..<count).map { _ in NoOperation() })])
    },
    growth("cancel of a pending procedure", tally: 0) { count in
      let queue = ProcedureQueue()
      queue.isSuspended = true
      let procedures = (0..<count).map { _ in NoOperation() }
      queue.add(procedures)
      for procedure in procedures { procedure.cancel() }
      await queue.waitUntilAllFinished()
    },
    growth("delay, schedule + cancel", tally: 0) { count in
      let queue = ProcedureQueue()
      for delay in await PendingTimers.startDelays(count, on: queue) { delay.cancel() }
      await queue.waitUntilAllFinished()
    },
    growth("deadline of a token, schedule + cancel", tally: 0) { count in
      for source in PendingTimers.deadlines(count) { source.cancel() }
    },
    growth("registration, register + cancel") { count in
      let source = CancellationTokenSource()
      for _ in 0..<count { source.token.onCancel { Tally.note() } }
      source.cancel()
    },
    growth("linked child, new + cancel of the root", tally: 0) { count in
      let root = CancellationTokenSource()
      let children = (0..<count).map { _ in CancellationTokenSource(linkedTo: root.token) }
      root.cancel()
      expect(children.allSatisfy(\.isCancelled), "a child is not cancelled")
    },
  ]

  private static func growth(
    _ name: String, tally: Int = 1, _ run: @escaping @Sendable (_ count: Int) async -> Void
  ) -> Contest {
    Contest(
      name: "growth, \(name)", mostRounds: 5, count: 100_000,
      entries: sizes.map { Entry("items", size: $0, tally: tally, run: run) })
  }
}

import Procedures

extension Contest {
  /// What it costs that queues at rest are looked through, while there is progress: nothing, or the
  /// two of a pair would differ.
  static let watching = Contest(
    name: "watching for waits", count: 50_000,
    entries: [true, false].flatMap { isWatched in
      let label = isWatched ? "watched" : "not watched"
      return [
        Entry("no-op, \(label)") { count in
          await OwnQueue.run(
            (0..<count).map { _ in NoOperation() }, on: queue(isWatched: isWatched))
        },
        Entry("chain, \(label)") { count in
          let procedures = (0..<count).map { _ in NoOperation() }
          for (next, last) in zip(procedures.dropFirst(), procedures) {
            next.add(dependency: last)
          }
          await OwnQueue.run(procedures, on: queue(isWatched: isWatched))
        },
        .timed("one by one while 100,000 wait, \(label)", share: 10) { count in
          await runBesideWaiting(count, isWatched: isWatched)
        },
      ]
    })

  private static func queue(isWatched: Bool) -> ProcedureQueue {
    let queue = ProcedureQueue()
    if !isWatched { queue.disableWaitWatch() }
    return queue
  }

  /// Each starts only when the queue has come to rest, while others wait.
  private static func runBesideWaiting(_ count: Int, isWatched: Bool) async -> Duration {
    let queue = queue(isWatched: isWatched)
    let gate = BlockProcedure {}
    let waiting = (0..<100_000).map { _ in
      let procedure = BlockProcedure {}
      procedure.add(dependency: gate)
      return procedure
    }
    queue.add(waiting)
    let duration = await ContinuousClock().measure {
      for _ in 0..<count { _ = await queue.run(NoOperation()) }
    }
    queue.add(gate)
    await queue.waitUntilAllFinished()
    return duration
  }
}

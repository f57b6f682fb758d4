import Procedures

extension Contest {
  /// What it costs to be asked before running.
  static let conditions = Contest(
    name: "conditions", count: 100_000,
    entries: [
      Entry(name: "procedure") { count in
        await runAll((0..<count).map { _ in NoOperation() })
      },
      Entry(name: "one synchronous condition") { count in
        await runAll((0..<count).map { _ in make(under: BlockCondition { true }) })
      },
      Entry(
        name: "one asynchronous condition",
        run: { count in
          await runAll((0..<count).map { _ in make(under: AsyncCondition { true }) })
        }, share: 10),
      Entry(name: "each of 100,000 on one procedure") { count in
        let procedure = NoOperation()
        for _ in 0..<count { procedure.add(condition: BlockCondition { true }) }
        await runAll([procedure])
      },
    ])

  /// What it costs to exclude others.
  static let exclusion = Contest(
    name: "exclusion", count: 10_000,
    entries: [
      Entry(name: "procedure") { count in
        await runAll((0..<count).map { _ in NoOperation() })
      },
      Entry(name: "one category each") { count in
        await runExclusive(count, categories: count)
      },
      Entry(name: "100 categories") { count in
        await runExclusive(count, categories: 100)
      },
      Entry(name: "one category for all") { count in
        await runExclusive(count, categories: 1)
      },
    ])

  /// What it costs that queues at rest are looked through, while there is progress: nothing, or the
  /// two of a pair would differ.
  static let watching = Contest(
    name: "watching for waits", count: 100_000,
    entries: [true, false].flatMap { isWatched in
      let label = isWatched ? "watched" : "not watched"
      return [
        Entry(name: "no-op, \(label)") { count in
          await runAll((0..<count).map { _ in NoOperation() }, isWatched: isWatched)
        },
        Entry(name: "chain, \(label)") { count in
          let procedures = (0..<count).map { _ in NoOperation() }
          for (next, last) in zip(procedures.dropFirst(), procedures) {
            next.add(dependency: last)
          }
          await runAll(procedures, isWatched: isWatched)
        },
        Entry(name: "chain, 100,000 others wait, \(label)") { count in
          await runBesideWaiting(count, isWatched: isWatched)
        },
      ]
    })

  private static func make(under condition: some Condition) -> Procedure {
    let procedure = NoOperation()
    procedure.add(condition: condition)
    return procedure
  }

  private static func runAll(_ procedures: [Procedure], isWatched: Bool = true) async {
    let queue = ProcedureQueue()
    if !isWatched { queue.disableWaitWatch() }
    queue.add(procedures)
    await queue.waitUntilAllFinished()
  }

  private static func runExclusive(_ count: Int, categories: Int) async {
    let domain = ExclusionDomain(name: "benchmark")
    await runAll(
      (0..<count).map { index in
        make(under: MutuallyExclusive(named: "\(index % categories)", in: domain))
      })
  }

  /// A chain each link of which starts only when the queue has come to rest, while others wait.
  private static func runBesideWaiting(_ count: Int, isWatched: Bool) async {
    let queue = ProcedureQueue()
    if !isWatched { queue.disableWaitWatch() }
    let gate = NoOperation()
    queue.add(
      (0..<100_000).map { _ in
        let waiting = NoOperation()
        waiting.add(dependency: gate)
        return waiting
      })
    for _ in 0..<count / 10 { _ = await queue.run(NoOperation()) }
    queue.add(gate)
    await queue.waitUntilAllFinished()
  }
}

import Procedures

extension Contest {
  /// A chain: each procedure depends on its predecessor.
  static let link = Contest(
    name: "link", ceiling: 1.2, aim: 1,
    ours: Side("link of a chain") { count in await ProcedureWork.runChain(count) },
    theirs: Side("block on a serial queue") { count in
      await DispatchWork.runSerially(count) { Tally.note() }
    })

  /// One of two procedures, of which the first hands its value to the second.
  static let injected = Contest(
    name: "injected", ceiling: 2,
    ours: Side("procedure of a pair that hands on a value") { count in
      let queue = ProcedureQueue()
      for number in 0..<count / 2 {
        let source = ResultProcedure { noted(number) }
        let target = TransformProcedure<Int, Int> { noted($0 + 1) }
        target.injectResult(from: source)
        queue.add(source, target)
      }
      await queue.waitUntilAllFinished()
    },
    theirs: noOperations)

  /// Twenty numbers, mapped, filtered and reduced. The alternative is a task for each step, which
  /// awaits the one before.
  static let sequence = Contest(
    name: "sequence", ceiling: 0.6,
    ours: Side("procedures: source, map, filter, reduce", items: 5_000, tally: 48) { count in
      let queue = ProcedureQueue()
      for _ in 0..<count {
        let source = ResultProcedure { noted(numbers) }
        let doubled = source.map { noted($0 * 2) }
        let some = doubled.filter { noted($0) % 3 == 0 }
        let sum = some.reduce(0) { noted($0 + $1) }
        queue.add(source, doubled, some, sum)
      }
      await queue.waitUntilAllFinished()
    },
    theirs: Side("tasks: source, map, filter, reduce", items: 5_000, tally: 48) { count in
      await withDiscardingTaskGroup { group in
        for _ in 0..<count {
          let source = Task { noted(numbers) }
          let doubled = Task { await source.value.map { noted($0 * 2) } }
          let some = Task { await doubled.value.filter { noted($0) % 3 == 0 } }
          group.addTask { blackHole(await some.value.reduce(0) { noted($0 + $1) }) }
        }
      }
    })

  private static let numbers = Array(0..<20)
}

@Sendable private func noted<Value>(_ value: Value) -> Value {
  Tally.note()
  return value
}

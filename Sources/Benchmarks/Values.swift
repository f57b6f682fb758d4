import Procedures

extension Contest {
  /// The cost of an `async` closure as a procedure.
  static let asynchronous = Contest(
    name: "asynchronous", count: 20_000,
    entries: [
      Entry(name: "task") { count in
        var tasks: [Task<Void, Never>] = []
        for _ in 0..<count { tasks.append(Task.detached {}) }
        for task in tasks { await task.value }
      },
      Entry(name: "procedure") { count in
        let queue = ProcedureQueue()
        for _ in 0..<count { queue.add(NoOperation()) }
        await queue.waitUntilAllFinished()
      },
      Entry(name: "asynchronous procedure") { count in
        let queue = ProcedureQueue()
        for _ in 0..<count { queue.add(AsyncProcedure {}) }
        await queue.waitUntilAllFinished()
      },
      Entry(name: "procedure with a finish handle") { count in
        let queue = ProcedureQueue()
        for _ in 0..<count { queue.add(AsyncProcedure { finish in finish() }) }
        await queue.waitUntilAllFinished()
      },
    ])

  /// The cost of handing a value on, for each pair.
  static let injection = Contest(
    name: "injection", count: 20_000,
    entries: [
      Entry(name: "task that awaits another's value") { count in
        var tasks: [Task<Int, Never>] = []
        for number in 0..<count {
          let source = Task.detached { number }
          tasks.append(Task.detached { await source.value + 1 })
        }
        for task in tasks { _ = await task.value }
      },
      Entry(name: "dependent procedure") { count in
        let queue = ProcedureQueue()
        for _ in 0..<count {
          let (source, target) = (NoOperation(), NoOperation())
          target.add(dependency: source)
          queue.add(source, target)
        }
        await queue.waitUntilAllFinished()
      },
      Entry(name: "procedure with an injected value") { count in
        let queue = ProcedureQueue()
        for number in 0..<count {
          let source = ResultProcedure { number }
          let target = TransformProcedure<Int, Int> { $0 + 1 }
          target.injectResult(from: source)
          queue.add(source, target)
        }
        await queue.waitUntilAllFinished()
      },
    ])
}

import Foundation
import Procedures
import Synchronization

extension Contest {
  /// The cost of handing a value on, for each pair.
  static let injection = Contest(
    name: "result injection", item: "pair", count: 20_000,
    entries: [
      Entry("procedure with an injected value", tally: 2) { count in
        let queue = ProcedureQueue()
        for number in 0..<count {
          let source = ResultProcedure { noted(number) }
          let target = TransformProcedure<Int, Int> { noted($0 + 1) }
          target.injectResult(from: source)
          queue.add(source, target)
        }
        await queue.waitUntilAllFinished()
      },
      Entry("dependent procedure, no value", tally: 2) { count in
        let queue = ProcedureQueue()
        for _ in 0..<count {
          let (source, target) = (NoOperation(), NoOperation())
          target.add(dependency: source)
          queue.add(source, target)
        }
        await queue.waitUntilAllFinished()
      },
      Entry("block that starts another", .dispatch, tally: 2) { count in
        let queue = DispatchQueue.global()
        let group = DispatchGroup()
        for number in 0..<count {
          group.enter()
          queue.async {
            let value = noted(number)
            queue.async {
              blackHole(noted(value + 1))
              group.leave()
            }
          }
        }
        await BareDispatch.finished(group)
      },
      Entry("task that awaits another's value", .tasks, tally: 2) { count in
        var tasks: [Task<Int, Never>] = []
        for number in 0..<count {
          let source = Task.detached { noted(number) }
          tasks.append(Task.detached { noted(await source.value + 1) })
        }
        for (number, task) in tasks.enumerated() {
          let value = await task.value
          expect(value == number + 1, "a task handed on another value")
        }
      },
      Entry("operation that reads another's box", .operations, share: 10, tally: 2) { count in
        let queue = OperationQueue()
        for number in 0..<count {
          let box = Box()
          let source = BlockOperation { box.value.withLock { $0 = noted(number) } }
          let target = BlockOperation { blackHole(noted(box.value.withLock { $0 } + 1)) }
          target.addDependency(source)
          queue.addOperation(source)
          queue.addOperation(target)
        }
        await Operations.drained(queue)
      },
    ])
}

private final class Box: Sendable {
  let value = Mutex(0)
}

@Sendable private func noted(_ value: Int) -> Int {
  Tally.note()
  return value
}

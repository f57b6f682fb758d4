import Dispatch
import Foundation
import Procedures

/// A procedure that does nothing: made, added, executed, finished, released.
final class NoOperation: Procedure, @unchecked Sendable {
  override func execute() { finish() }
}

extension Contest {
  /// The cost of having something done at all.
  static let noOperation = Contest(
    name: "no-op", count: 100_000,
    entries: [
      Entry(name: "DispatchQueue.async") { count in
        let group = DispatchGroup()
        let queue = DispatchQueue.global()
        for _ in 0..<count {
          group.enter()
          queue.async { group.leave() }
        }
        await withCheckedContinuation { done in group.notify(queue: queue) { done.resume() } }
      },
      Entry(name: "procedure") { count in
        let queue = ProcedureQueue()
        for _ in 0..<count { queue.add(NoOperation()) }
        await queue.waitUntilAllFinished()
      },
      Entry(name: "procedure, one DidFinish observer") { count in
        let queue = ProcedureQueue()
        for _ in 0..<count {
          let procedure = NoOperation()
          procedure.addDidFinishBlockObserver { _, _ in }
          queue.add(procedure)
        }
        await queue.waitUntilAllFinished()
      },
      Entry(name: "child of a group") { count in
        let group = GroupProcedure(children: (0..<count).map { _ in NoOperation() })
        _ = await ProcedureQueue().run(group)
      },
      Entry(name: "task of a task group") { count in
        await withTaskGroup { group in
          for _ in 0..<count { group.addTask {} }
        }
      },
      Entry(
        name: "OperationQueue",
        run: { count in
          let queue = OperationQueue()
          for _ in 0..<count { queue.addOperation(BlockOperation {}) }
          await withCheckedContinuation { done in queue.addBarrierBlock { done.resume() } }
        }, share: 10),
    ])

  /// One after the other.
  static let chain = Contest(
    name: "chain", count: 100_000,
    entries: [
      Entry(name: "serial DispatchQueue.async") { count in
        let queue = DispatchQueue(label: "serial")
        for _ in 0..<count { queue.async {} }
        await withCheckedContinuation { done in queue.async { done.resume() } }
      },
      Entry(name: "procedure after procedure") { count in
        let queue = ProcedureQueue()
        var last: Procedure?
        for _ in 0..<count {
          let next = NoOperation()
          if let last { next.add(dependency: last) }
          queue.add(next)
          last = next
        }
        await queue.waitUntilAllFinished()
      },
      Entry(
        name: "operation after operation",
        run: { count in
          let queue = OperationQueue()
          var last: Operation?
          for _ in 0..<count {
            let next = BlockOperation {}
            if let last { next.addDependency(last) }
            queue.addOperation(next)
            last = next
          }
          await withCheckedContinuation { done in queue.addBarrierBlock { done.resume() } }
        }, share: 1_000),
    ])
}

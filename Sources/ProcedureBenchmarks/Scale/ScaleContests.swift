import Foundation
internal import ProcedurePrimitives
import Procedures

extension ScaleContest {
  static let all = [oneQueue, queues, limited, groups, category, cancelled, tokens]

  /// All threads add to the same queue.
  static let oneQueue = ScaleContest(
    name: "one queue", item: "a no-op, added to a queue that all threads share",
    ours: .procedures { _ in
      let queue = ProcedureQueue()
      return ScaleWork(on: queue) { queue.add(NoOperation()) }
    },
    peers: [
      .dispatch { _, done in
        let queue = DispatchQueue(label: "one queue", attributes: .concurrent)
        return { _ in queue.async(group: done) { Tally.note() } }
      },
      .tasks { group, count in for _ in 0..<count { group.addTask { Tally.note() } } },
      .operations { _ in
        let queue = OperationQueue()
        return ScaleWork(on: queue) { queue.addOperation { Tally.note() } }
      },
    ])

  /// Each thread adds to a queue of its own.
  static let queues = ScaleContest(
    name: "a queue each", item: "a no-op, added to the thread's own queue",
    ours: .procedures { threads in
      let queues = (0..<threads).map { _ in ProcedureQueue() }
      return ScaleWork { thread, count in
        for _ in 0..<count { queues[thread].add(NoOperation()) }
      } finish: {
        for queue in queues { queue.blockUntilAllFinished() }
      }
    },
    peers: [
      .dispatch { threads, done in
        let queues = (0..<threads).map { DispatchQueue(label: "\($0)", attributes: .concurrent) }
        return { thread in queues[thread].async(group: done) { Tally.note() } }
      },
      .tasks { group, count in for _ in 0..<count { group.addTask { Tally.note() } } },
      .operations { threads in
        let queues = (0..<threads).map { _ in OperationQueue() }
        return ScaleWork { thread, count in
          for _ in 0..<count { queues[thread].addOperation { Tally.note() } }
        } finish: {
          for queue in queues { queue.waitUntilAllOperationsAreFinished() }
        }
      },
    ])

  /// All threads add to a queue that runs four at a time.
  static let limited = ScaleContest(
    name: "limit of 4", item: "a no-op, of which four run at a time",
    ours: .procedures { _ in
      let queue = ProcedureQueue(maxConcurrentProcedureCount: 4)
      return ScaleWork(on: queue) { queue.add(NoOperation()) }
    },
    peers: [
      // The thread that adds waits for the semaphore: a block that waits would keep a thread of
      // the pool.
      .dispatch("Dispatch, a semaphore") { _, done in
        let queue = DispatchQueue(label: "limit of 4", attributes: .concurrent)
        let places = DispatchSemaphore(value: 4)
        return { _ in
          places.wait()
          queue.async(group: done) {
            Tally.note()
            places.signal()
          }
        }
      },
      .operations { _ in
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        return ScaleWork(on: queue) { queue.addOperation { Tally.note() } }
      },
    ])

  /// All threads add groups of five to the same queue. Only the fifth child counts in the tally.
  static let groups = ScaleContest(
    name: "groups", item: "a group of five no-ops, with the group",
    ours: .procedures(items: 10_000) { _ in
      let queue = ProcedureQueue()
      return ScaleWork(on: queue) {
        let children = (0..<5).map { $0 < 4 ? Unnoted() : NoOperation() }
        queue.add(GroupProcedure(children: children))
      }
    },
    peers: [
      .dispatch("Dispatch, a group each", items: 10_000) { _, done in
        let queue = DispatchQueue(label: "groups", attributes: .concurrent)
        return { _ in
          let five = DispatchGroup()
          done.enter()
          for number in 0..<5 { queue.async(group: five) { if number == 4 { Tally.note() } } }
          five.notify(queue: queue) { done.leave() }
        }
      },
      .tasks(items: 10_000) { group, count in
        for _ in 0..<count {
          group.addTask {
            await withDiscardingTaskGroup { five in
              for number in 0..<5 { five.addTask { if number == 4 { Tally.note() } } }
            }
          }
        }
      },
      .operations(items: 2_000) { _ in
        let queue = OperationQueue()
        return ScaleWork(on: queue) {
          let last = BlockOperation { Tally.note() }
          let five = (0..<5).map { _ in BlockOperation {} }
          for operation in five { last.addDependency(operation) }
          queue.addOperations(five + [last], waitUntilFinished: false)
        }
      },
    ])

  /// All threads add to the same queue, and one procedure runs at a time.
  static let category = ScaleContest(
    name: "category", item: "a no-op that excludes all others",
    ours: .procedures(items: 20_000) { _ in
      let queue = ProcedureQueue()
      return ScaleWork(on: queue) {
        let procedure = NoOperation()
        procedure.add(condition: MutuallyExclusive<ScaleContest>())
        queue.add(procedure)
      }
    },
    peers: [
      .dispatch("Dispatch, a serial queue") { _, done in
        let queue = DispatchQueue(label: "category")
        return { _ in queue.async(group: done) { Tally.note() } }
      },
      .tasks("TaskGroup, an actor", items: 20_000) {
        let visited = Visited()
        return { group, count in for _ in 0..<count { group.addTask { await visited.note() } } }
      },
      .operations { _ in
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return ScaleWork(on: queue) { queue.addOperation { Tally.note() } }
      },
    ])

  /// All threads add to the same queue, and cancel every second one right after that. It may have
  /// run by then.
  static let cancelled = ScaleContest(
    name: "cancel", item: "a no-op, every second one cancelled after it was added",
    ours: .procedures(isTallied: false) { _ in
      let queue = ProcedureQueue()
      return ScaleWork { _, count in
        for number in 0..<count {
          let procedure = NoOperation()
          queue.add(procedure)
          if number % 2 == 0 { procedure.cancel() }
        }
      } finish: {
        queue.blockUntilAllFinished()
      }
    },
    peers: [
      ScaleSide(name: "Dispatch, work items", items: 40_000, isTallied: false) { _ in
        let queue = DispatchQueue(label: "cancel", attributes: .concurrent)
        let done = DispatchGroup()
        return ScaleWork { _, count in
          for number in 0..<count {
            let item = DispatchWorkItem { Tally.note() }
            queue.async(group: done, execute: item)
            if number % 2 == 0 { item.cancel() }
          }
        } finish: {
          done.wait()
        }
      },
      ScaleSide(name: "tasks", items: 40_000, isTallied: false) { _ in
        let done = DispatchGroup()
        return ScaleWork { _, count in
          for number in 0..<count {
            done.enter()
            let task = Task {
              if !Task.isCancelled { Tally.note() }
              done.leave()
            }
            if number % 2 == 0 { task.cancel() }
          }
        } finish: {
          done.wait()
        }
      },
      .operations(isTallied: false) { _ in
        let queue = OperationQueue()
        return ScaleWork { _, count in
          for number in 0..<count {
            let operation = BlockOperation { Tally.note() }
            queue.addOperation(operation)
            if number % 2 == 0 { operation.cancel() }
          }
        } finish: {
          queue.waitUntilAllOperationsAreFinished()
        }
      },
    ])

  /// All threads register with one source, and remove nine of ten. At the end it is cancelled,
  /// which calls the handlers that are left. A handler that is removed counts as one that is
  /// called.
  static let tokens = ScaleContest(
    name: "tokens", item: "a handler of one source, registered; nine of ten are removed",
    ours: ScaleSide(name: "tokens", items: 200_000, usesOurLocks: true) { _ in
      let source = CancellationTokenSource()
      return ScaleWork { _, count in
        let token = source.token
        for number in 0..<count {
          let registration = token.onCancel { Tally.note() }
          guard number % 10 != 0 else { continue }
          registration.remove()
          Tally.note()
        }
      } finish: {
        source.cancel()
      }
    },
    peers: [
      ScaleSide(name: "flag and closures under a lock", items: 200_000, usesOurLocks: true) { _ in
        let source = PlainSource()
        return ScaleWork { _, count in
          for number in 0..<count {
            let id = source.register { Tally.note() }
            guard number % 10 != 0 else { continue }
            source.unregister(id)
            Tally.note()
          }
        } finish: {
          source.cancel()
        }
      }
    ])
}

/// A procedure that does nothing, and does not count either.
private final class Unnoted: Procedure, @unchecked Sendable {
  override func execute() { finish() }
}

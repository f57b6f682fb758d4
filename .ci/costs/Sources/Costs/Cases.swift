// Not in main.swift: closures there belong to the main actor, whose thread waits.
import Cancellation
import Dispatch
import Foundation
import Procedures
import ProceduresTimeline

final class NoOperation: Procedure, @unchecked Sendable {
  override func execute() { finish() }
}

final class Source: Procedure, OutputProcedure, @unchecked Sendable {
  typealias Output = Int
  override func execute() { finish(withResult: .success(1)) }
}

final class Target: Procedure, InputProcedure, @unchecked Sendable {
  typealias Input = Int
  override func execute() { finish(withError: input == 1 ? nil : CancellationError()) }
}

/// Runs what `body` adds to a suspended queue, so that no worker comes between, and waits for its end.
func run(_ body: (ProcedureQueue) -> Void) {
  let queue = ProcedureQueue()
  queue.isSuspended = true
  body(queue)
  queue.isSuspended = false
  let isDone = DispatchSemaphore(value: 0)
  Task.detached {
    await queue.waitUntilAllFinished()
    isDone.signal()
  }
  isDone.wait()
}

/// Makes so many tasks, in a task, and waits for all of them.
func runTasks(
  _ count: Int,
  _ make: @escaping @Sendable (TaskStore<Int>, CancellationToken, Int) -> Task<Void, any Error>
) {
  let isDone = DispatchSemaphore(value: 0)
  Task.detached {
    let (store, source) = (TaskStore<Int>(), CancellationTokenSource())
    let tasks = (0..<count).map { make(store, source.token, $0) }
    for task in tasks { try? await task.value }
    isDone.signal()
  }
  isDone.wait()
}

let cases: [String: @Sendable (Int) -> Void] = [
  "no-op": { count in
    run { queue in for _ in 0..<count { queue.add(NoOperation()) } }
  },
  // A queue for each, which goes when the procedure has finished.
  "queue": { count in
    for _ in 0..<count {
      let isDone = DispatchSemaphore(value: 0)
      ProcedureQueue().add(GroupProcedure(BlockProcedure { isDone.signal() }))
      isDone.wait()
    }
  },
  "recorded": { count in
    let timeline = ProcedureTimeline()
    // Whether its own end comes before the program's is a matter of threads, and not counted.
    _ = Unmanaged.passRetained(timeline)
    run { queue in
      timeline.record(queue)
      for _ in 0..<count { queue.add(NoOperation()) }
    }
  },
  "block": { count in
    run { queue in for _ in 0..<count { queue.add(BlockProcedure {}) } }
  },
  "link": { count in
    run { queue in
      var last: Procedure?
      for _ in 0..<count {
        let procedure = NoOperation()
        if let last { procedure.add(dependency: last) }
        queue.add(procedure)
        last = procedure
      }
    }
  },
  // Each waits for three of those before it.
  "dag": { count in
    run { queue in
      var (nodes, random) = ([Procedure](), UInt64(42))
      for index in 0..<count {
        let node = NoOperation()
        for _ in 0..<min(index, 3) {
          random = random &* 6_364_136_223_846_793_005 &+ 1
          node.add(dependency: nodes[Int(random >> 33) % index])
        }
        nodes.append(node)
        queue.add(node)
      }
    }
  },
  "observed": { count in
    run { queue in
      for _ in 0..<count {
        let procedure = NoOperation()
        procedure.addDidFinishBlockObserver { _, _ in }
        queue.add(procedure)
      }
    }
  },
  "conditioned": { count in
    run { queue in
      for _ in 0..<count {
        let procedure = NoOperation()
        procedure.add(condition: BlockCondition { true })
        queue.add(procedure)
      }
    }
  },
  // All of one category, so that one at a time runs.
  "exclusive": { count in
    run { queue in
      for _ in 0..<count {
        let procedure = NoOperation()
        procedure.add(condition: MutuallyExclusive<NoOperation>())
        queue.add(procedure)
      }
    }
  },
  "cancelled": { count in
    run { queue in
      for _ in 0..<count { queue.add(NoOperation()) }
      queue.cancelAll()
    }
  },
  // One of two, the first of which hands its value to the second.
  "injected": { count in
    run { queue in
      for number in 0..<count / 2 {
        let source = ResultProcedure { number }
        let target = TransformProcedure<Int, Int> { $0 + 1 }
        target.injectResult(from: source)
        queue.add(source, target)
      }
    }
  },
  // The same between subclasses of the user's own.
  "handed": { count in
    run { queue in
      for _ in 0..<count / 2 {
        let (source, target) = (Source(), Target())
        target.injectResult(from: source)
        queue.add(source, target)
      }
    }
  },
  "delay": { count in
    run { queue in
      for _ in 0..<count { queue.add(DelayProcedure(by: .seconds(900))) }
      queue.isSuspended = false
      queue.cancelAll()
    }
  },
  "async": { count in
    run { queue in for _ in 0..<count { queue.add(AsyncProcedure {}) } }
  },
  // Added by a task, whose task-local values and priority the body has.
  "inherited": { count in
    run { queue in
      let isDone = DispatchSemaphore(value: 0)
      Task.detached {
        for _ in 0..<count { queue.add(AsyncProcedure {}) }
        isDone.signal()
      }
      isDone.wait()
    }
  },
  // A task under an id, one of sixteen that change.
  "stored-task": { count in
    runTasks(count) { store, _, index in store.addTask(id: index % 16) {} }
  },
  // A task that a token cancels.
  "token-task": { count in
    runTasks(count) { _, token, _ in Task(cancelledBy: token) {} }
  },
  // The same that nothing cancels.
  "task": { count in
    runTasks(count) { _, _, _ in Task {} }
  },
  "token": { count in
    for _ in 0..<count {
      let source = CancellationTokenSource()
      source.token.onCancel {}
      source.cancel()
    }
  },
  "registration": { count in
    let source = CancellationTokenSource()
    let token = source.token
    for _ in 0..<count { token.onCancel {}.remove() }
  },
  "linked-source": { count in
    let source = CancellationTokenSource()
    let token = source.token
    for _ in 0..<count { _ = CancellationTokenSource(linkedTo: token) }
  },
  "child": { count in
    // Whether the worker's reference ends before the program is a matter of threads. The last one
    // is here, and the children are released with it.
    var group = GroupProcedure(children: (0..<count).map { _ in NoOperation() })
    run { queue in queue.add(group) }
    while !isKnownUniquelyReferenced(&group) { usleep(1_000) }
  },
  "group": { count in
    run { queue in for _ in 0..<count { queue.add(GroupProcedure(NoOperation())) } }
  },
  "retry": { count in
    run { queue in for _ in 0..<count { queue.add(RetryProcedure(max: 3) { NoOperation() }) } }
  },
  "latency": { count in
    let queue = ProcedureQueue()
    let hasExecuted = DispatchSemaphore(value: 0)
    for _ in 0..<count {
      queue.add(BlockProcedure { hasExecuted.signal() })
      hasExecuted.wait()
    }
  },

  // What others take for as much: to read the rest by.
  "dispatch": { count in
    let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
    let group = DispatchGroup()
    for _ in 0..<count { queue.async(group: group) {} }
    group.wait()
  },
  "dispatch-serial": { count in
    let queue = DispatchQueue(label: "serial")
    for _ in 0..<count { queue.async {} }
    queue.sync {}
  },
  "dispatch-timer": { count in
    let timers = (0..<count).map { _ in
      let timer = DispatchSource.makeTimerSource(queue: .global())
      timer.setEventHandler {}
      timer.schedule(deadline: .now() + 900)
      timer.activate()
      return timer
    }
    for timer in timers { timer.cancel() }
  },
]

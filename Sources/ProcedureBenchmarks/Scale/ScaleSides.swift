import Foundation
import Procedures

extension ScaleSide {
  /// Adds one item.
  typealias AddOne = @Sendable (_ thread: Int) -> Void
  /// Adds `count` tasks to a group.
  typealias AddTasks = @Sendable (_ group: inout DiscardingTaskGroup, _ count: Int) -> Void

  static func procedures(
    items: Int = 40_000, isTallied: Bool = true,
    _ prepare: @escaping @Sendable (_ threads: Int) -> ScaleWork
  ) -> ScaleSide {
    ScaleSide(
      name: "procedures", items: items, isTallied: isTallied, usesOurLocks: true, prepare: prepare)
  }

  /// - Parameter prepare: returns a function that adds one item, whose end `done` must count.
  static func dispatch(
    _ name: String = "Dispatch", items: Int = 40_000,
    _ prepare: @escaping @Sendable (_ threads: Int, _ done: DispatchGroup) -> AddOne
  ) -> ScaleSide {
    ScaleSide(name: name, items: items) { threads in
      let done = DispatchGroup()
      let add = prepare(threads, done)
      return ScaleWork { thread, count in
        for _ in 0..<count { add(thread) }
      } finish: {
        done.wait()
      }
    }
  }

  /// Each thread makes a task, which adds the thread's items to a task group of its own: only the
  /// task of a group can add to it.
  ///
  /// - Parameter add: adds `count` items.
  static func tasks(
    _ name: String = "TaskGroup", items: Int = 40_000,
    _ add: @escaping AddTasks
  ) -> ScaleSide {
    tasks(name, items: items) { add }
  }

  /// - Parameter prepare: returns a function that adds `count` items.
  static func tasks(
    _ name: String, items: Int,
    _ prepare: @escaping @Sendable () -> AddTasks
  ) -> ScaleSide {
    ScaleSide(name: name, items: items) { _ in
      let done = DispatchGroup()
      let add = prepare()
      return ScaleWork { _, count in
        done.enter()
        Task.detached {
          await withDiscardingTaskGroup { group in add(&group, count) }
          done.leave()
        }
      } finish: {
        done.wait()
      }
    }
  }

  static func operations(
    items: Int = 10_000, isTallied: Bool = true,
    _ prepare: @escaping @Sendable (_ threads: Int) -> ScaleWork
  ) -> ScaleSide {
    ScaleSide(name: "OperationQueue", items: items, isTallied: isTallied, prepare: prepare)
  }
}

extension ScaleWork {
  /// Each item is added to one queue.
  init(on queue: ProcedureQueue, add: @escaping @Sendable () -> Void) {
    self.init { _, count in
      for _ in 0..<count { add() }
    } finish: {
      queue.blockUntilAllFinished()
    }
  }

  init(on queue: OperationQueue, add: @escaping @Sendable () -> Void) {
    self.init { _, count in
      for _ in 0..<count { add() }
    } finish: {
      queue.waitUntilAllOperationsAreFinished()
    }
  }
}

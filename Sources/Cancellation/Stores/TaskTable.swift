internal import ProcedurePrimitives

/// The table of tasks by id that a store and its tasks share.
///
/// Invariants:
/// 1. A task is entered before it is created, so that a cancel of the id meanwhile finds it.
/// 2. It is removed by identity: a task that ends late does not remove its successor.
/// 3. Nothing is cancelled, and no task is created, with the lock held.
/// 4. A task that the store cancels stays in its group until it reads cancelled. A second caller
///    finds it there and cancels it, too, so no caller goes on before it reads cancelled, and none
///    waits for another.
final class TaskTable: Sendable {
  struct Admission: Sendable {
    var running: StoredTask?
    /// The tasks to cancel before the new one begins.
    var previous: [StoredTask] = []
    /// The group of the new task.
    let group: Group
  }

  /// The tasks under one id. Unchecked because the table's lock guards them.
  class Group: KeyTable.Entry, @unchecked Sendable {
    /// The tasks that have neither ended nor been cancelled by the store.
    @safe @exclusivity(unchecked) fileprivate final var tasks: [ObjectIdentifier: StoredTask] = [:]
    /// The tasks that one or more threads cancel at the moment.
    @safe @exclusivity(unchecked)
    fileprivate final var leaving: [ObjectIdentifier: StoredTask] = [:]

    override final var isEmpty: Bool { tasks.isEmpty && leaving.isEmpty }

    /// - Returns: all tasks that are leaving now. The caller must cancel them.
    fileprivate final func letTasksLeave() -> [StoredTask] {
      if leaving.isEmpty {
        swap(&leaving, &tasks)
      } else {
        leaving.merge(exchange(&tasks, with: [:])) { old, _ in old }
      }
      return Array(leaving.values)
    }

    /// - Parameter tasks: all read cancelled, or have ended.
    fileprivate final func haveLeft(_ tasks: [StoredTask]) {
      for task in tasks { leaving[ObjectIdentifier(task)] = nil }
      if leaving.isEmpty { leaving = [:] }
    }
  }

  private let groups = KeyTable()

  /// Enters a task under the id of `new`, in that group or in an existing group of the same id.
  func admit(_ task: StoredTask, in new: Group, isOnlyOne: Bool, replaces: Bool) -> Admission {
    withGroup(of: new) { group in
      if isOnlyOne, let running = group.tasks.first?.value {
        return Admission(running: running, group: group)
      }
      let previous = replaces ? group.letTasksLeave() : []
      group.tasks[ObjectIdentifier(task)] = task
      task.group = group
      return Admission(previous: previous, group: group)
    }
  }

  func remove(_ task: StoredTask, from group: Group) {
    let removed = groups.remove(from: group) {
      let id = ObjectIdentifier(task)
      return group.tasks.removeValue(forKey: id) ?? group.leaving.removeValue(forKey: id)
    }
    _ = removed
  }

  /// Cancels the tasks under the id of `group`.
  func cancel(_ group: Group) {
    let (group, tasks) = withGroup(of: group) { ($0, $0.letTasksLeave()) }
    cancel(tasks, of: group)
  }

  func cancelAll() {
    let all = groups.map { entry in
      let group = Self.group(entry)
      return (group, group.letTasksLeave())
    }
    for (group, tasks) in all { cancel(tasks, of: group) }
  }

  /// Cancels tasks that are leaving. When it returns, all read cancelled.
  ///
  /// A second cancel of a task returns at once, even while its handlers run in the first.
  func cancel(_ tasks: [StoredTask], of group: Group) {
    if tasks.isEmpty { return }
    for task in tasks { task.cancel() }
    // The caller's array keeps the tasks until the lock is released.
    groups.remove(from: group) { group.haveLeft(tasks) }
  }

  var isEmpty: Bool { !groups.contains { !Self.group($0).tasks.isEmpty } }

  var count: Int { groups.map { Self.group($0).tasks.count }.reduce(0, +) }

  /// How many tasks there are under the id of `group`.
  func count(_ group: Group) -> Int {
    withGroup(of: group) { $0.tasks.count }
  }

  private func withGroup<Result: Sendable>(of new: Group, _ body: (Group) -> Result) -> Result {
    groups.withEntry(of: new) { body(Self.group($0)) }
  }

  /// All entries of its table are groups.
  private static func group(_ entry: KeyTable.Entry) -> Group {
    unsafe unsafeDowncast(entry, to: Group.self)
  }
}

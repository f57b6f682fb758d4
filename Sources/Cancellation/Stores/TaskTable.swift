internal import ProcedurePrimitives

/// The table of tasks by id that a store and its tasks share.
///
/// Invariants:
/// 1. A task is entered before it is created, so that a cancel of the id meanwhile finds it.
/// 2. It is removed by identity: a task that ends late does not remove its successor.
/// 3. Nothing is cancelled, and no task is created, with the lock held.
final class TaskTable: Sendable {
  struct Admission: Sendable {
    var running: StoredTask?
    var previous: [StoredTask] = []
  }

  /// The tasks under one id. Unchecked because the table's lock guards `tasks`.
  class Group: KeyTable.Entry, @unchecked Sendable {
    @safe @exclusivity(unchecked) fileprivate final var tasks: [ObjectIdentifier: StoredTask] = [:]

    override final var isEmpty: Bool { tasks.isEmpty }
  }

  private let groups = KeyTable()

  /// Enters a task under the id of `new`, in that group or in an existing group of the same id.
  func admit(_ task: StoredTask, in new: Group, isOnlyOne: Bool, replaces: Bool) -> Admission {
    withGroup(of: new) { group in
      if isOnlyOne, let running = group.tasks.first?.value { return Admission(running: running) }
      let previous = replaces ? Array(exchange(&group.tasks, with: [:]).values) : []
      group.tasks[ObjectIdentifier(task)] = task
      task.group = group
      return Admission(previous: previous)
    }
  }

  func remove(_ task: StoredTask, from group: Group) {
    let removed = groups.remove(from: group) {
      group.tasks.removeValue(forKey: ObjectIdentifier(task))
    }
    _ = removed
  }

  /// Cancels the tasks under the id of `group`.
  func cancel(_ group: Group) {
    let cancelled = withGroup(of: group) { exchange(&$0.tasks, with: [:]) }
    for task in cancelled.values { task.cancel() }
  }

  func cancelAll() {
    for entry in groups.takeAll() {
      let group = Self.group(entry)
      // No new task enters this group, but tasks that end still leave it.
      let tasks = groups.remove(from: group) { exchange(&group.tasks, with: [:]) }
      for task in tasks.values { task.cancel() }
    }
  }

  var isEmpty: Bool { groups.isEmpty }

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

internal import ProcedurePrimitives

/// What a store and its tasks share: which tasks are there, under which id.
///
/// Invariants:
/// 1. A task is entered before it is created, so that whoever cancels the id meanwhile finds it.
/// 2. It is removed by identity: a task that ends late does not take its successor along.
/// 3. Nothing is cancelled, and no task is created, with the lock held.
final class TaskTable<ID: Hashable & Sendable>: Sendable {
  struct Admission: Sendable {
    var running: StoredTask?
    var previous: [StoredTask] = []
  }

  private let tasks = Locked<[ID: [ObjectIdentifier: StoredTask]]>([:])

  func admit(_ task: StoredTask, id: ID, policy: TaskStore<ID>.Policy) -> Admission {
    tasks.withLock { tasks in
      switch policy {
      case .skipIfRunning:
        if let running = tasks[id]?.first?.value { return Admission(running: running) }
        fallthrough
      case .concurrent:
        tasks[id, default: [:]][ObjectIdentifier(task)] = task
        return Admission()
      case .cancelPrevious:
        let previous = tasks.updateValue([ObjectIdentifier(task): task], forKey: id)
        return Admission(previous: previous.map { Array($0.values) } ?? [])
      }
    }
  }

  func remove(_ task: StoredTask, id: ID) {
    tasks.withLock { tasks in
      guard tasks[id]?.removeValue(forKey: ObjectIdentifier(task)) != nil else { return }
      if tasks[id]?.isEmpty == true { tasks[id] = nil }
    }
  }

  func cancel(_ id: ID) {
    let cancelled = tasks.withLock { $0.removeValue(forKey: id) }
    for task in cancelled?.values ?? [:].values { task.cancel() }
  }

  func cancelAll() {
    let cancelled = tasks.withLock { tasks in
      defer { tasks = [:] }
      return tasks
    }
    for tasks in cancelled.values {
      for task in tasks.values { task.cancel() }
    }
  }

  func count(_ id: ID) -> Int {
    tasks.withLock { $0[id]?.count ?? 0 }
  }
}

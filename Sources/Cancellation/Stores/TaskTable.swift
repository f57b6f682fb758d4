internal import ProcedurePrimitives

/// What a store and its tasks share: which tasks are there, under which id.
///
/// Ids are the user's: their `==`, `hash(into:)` and `deinit` are user code. So the table is one of
/// hash values, and an id is compared with those of its hash, of which there is mostly one, between
/// two critical sections; the second looks whether what the first found still holds.
///
/// Invariants:
/// 1. A task is entered before it is created, so that a cancel of the id meanwhile finds it.
/// 2. It is removed by identity: a task that ends late does not take its successor along.
/// 3. Nothing is cancelled, no task is created, and no code of an id runs, with the lock held.
/// 4. A group is in the table exactly while it has tasks.
final class TaskTable<ID: Hashable & Sendable>: Sendable {
  struct Admission: Sendable {
    var running: StoredTask?
    var previous: [StoredTask] = []
    /// Where the task was entered; nil if it was not.
    var group: Group?
  }

  /// The tasks under one id. Unchecked because the table's lock guards `tasks`.
  final class Group: @unchecked Sendable {
    let id: ID
    fileprivate let hash: Int
    fileprivate var tasks: [ObjectIdentifier: StoredTask] = [:]

    fileprivate init(id: ID, hash: Int) {
      self.id = id
      self.hash = hash
    }
  }

  private let groups = Locked<[Int: SmallList<Group>]>([:])

  func admit(_ task: StoredTask, id: ID, policy: TaskStore<ID>.Policy) -> Admission {
    withGroup(of: id) { group, place in
      if policy == .skipIfRunning, let running = group.tasks.first?.value {
        return Admission(running: running)
      }
      if group.tasks.isEmpty { place.append(group) }
      let previous = policy == .cancelPrevious ? Array(group.tasks.take().values) : []
      group.tasks[ObjectIdentifier(task)] = task
      return Admission(previous: previous, group: group)
    }
  }

  func remove(_ task: StoredTask, from group: Group) {
    let released = groups.withLock { groups -> (StoredTask?, SmallList<Group>) in
      let removed = group.tasks.removeValue(forKey: ObjectIdentifier(task))
      guard removed != nil, group.tasks.isEmpty, let place = groups[group.hash] else {
        return (removed, .none)
      }
      let kept = place.keeping { $0 !== group }
      groups[group.hash] = kept.isEmpty ? nil : kept
      return (removed, place)
    }
    _ = released
  }

  func cancel(_ id: ID) {
    let cancelled = withGroup(of: id) { group, place in
      place = place.keeping { $0 !== group }
      return group.tasks.take()
    }
    for task in cancelled.values { task.cancel() }
  }

  func cancelAll() {
    let cancelled = groups.withLock { $0.take() }
    for group in cancelled.values.joined() {
      // Nothing enters it any more, but tasks that end still leave it.
      let tasks = groups.withLock { _ in group.tasks.take() }
      for task in tasks.values { task.cancel() }
    }
  }

  func count(_ id: ID) -> Int {
    withGroup(of: id) { group, _ in group.tasks.count }
  }

  /// Runs `body`, under the lock, with the group of `id` and the list of those with its hash; if there
  /// is none, with an empty one that is in no list.
  private func withGroup<Result: Sendable>(
    of id: ID, _ body: (Group, inout SmallList<Group>) -> Result
  ) -> Result {
    let hash = id.hashValue
    var made: Group?
    while true {
      // Kept until the lock is released: these may be the last references to ids.
      let seen = groups.withLock { $0[hash] ?? .none }
      let found = seen.first { $0.id == id }
      let group = found ?? made ?? Group(id: id, hash: hash)
      if found == nil { made = group }
      let result: Result? = groups.withLock { groups in
        var place = groups[hash] ?? .none
        guard place.elementsEqual(seen, by: ===) else { return nil }
        let result = body(group, &place)
        groups[hash] = place.isEmpty ? nil : place
        return result
      }
      if let result { return result }
    }
  }
}

extension Dictionary {
  /// What it holds, which it no longer does then.
  fileprivate mutating func take() -> Self {
    var taken = Self()
    swap(&self, &taken)
    return taken
  }
}

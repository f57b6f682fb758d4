internal import ProcedurePrimitives

/// The table that a store and its tasks share: which tasks are there, under which id.
///
/// Ids are the user's: their `==`, `hash(into:)` and `deinit` are user code. So the table is one of
/// hash values, and an id is compared with those of its hash, of which there is mostly one, between
/// two critical sections; the second looks whether what the first found still holds.
///
/// It knows no ids, only groups, so that it is not generic: in a module that is not compiled together
/// with this one each step of a generic table looks its types up.
///
/// Invariants:
/// 1. A task is entered before it is created, so that a cancel of the id meanwhile finds it.
/// 2. It is removed by identity: a task that ends late does not take its successor along.
/// 3. Nothing is cancelled, no task is created, and no code of an id runs, with the lock held.
/// 4. A group is in the table exactly while it has tasks.
final class TaskTable: Sendable {
  struct Admission: Sendable {
    var running: StoredTask?
    var previous: [StoredTask] = []
  }

  /// The tasks under one id. Unchecked because the table's lock guards `tasks`.
  class Group: @unchecked Sendable {
    fileprivate let hash: Int
    @safe @exclusivity(unchecked) fileprivate var tasks: [ObjectIdentifier: StoredTask] = [:]

    init(hash: Int) {
      self.hash = hash
    }

    /// Whether it is one of the same id. User code. To override.
    func hasID(of other: Group) -> Bool { self === other }
  }

  private let groups = Locked<[Int: SmallList<Group>]>([:])

  /// Enters a task under the id of `new`, in that group or in the one that there is of the same id.
  func admit(_ task: StoredTask, in new: Group, isOnlyOne: Bool, replaces: Bool) -> Admission {
    withGroup(of: new) { group, place in
      if isOnlyOne, let running = group.tasks.first?.value { return Admission(running: running) }
      if group.tasks.isEmpty { place.append(group) }
      let previous = replaces ? Array(exchange(&group.tasks, with: [:]).values) : []
      group.tasks[ObjectIdentifier(task)] = task
      task.group = group
      return Admission(previous: previous)
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

  /// Cancels the tasks under the id of `group`.
  func cancel(_ group: Group) {
    let cancelled = withGroup(of: group) { group, place in
      place = place.keeping { $0 !== group }
      return exchange(&group.tasks, with: [:])
    }
    for task in cancelled.values { task.cancel() }
  }

  func cancelAll() {
    let cancelled = groups.withLock { exchange(&$0, with: [:]) }
    for group in cancelled.values.joined() {
      // Nothing enters it any more, but tasks that end still leave it.
      let tasks = groups.withLock { _ in exchange(&group.tasks, with: [:]) }
      for task in tasks.values { task.cancel() }
    }
  }

  var isEmpty: Bool { groups.withLock { $0.isEmpty } }

  var count: Int {
    groups.withLock { $0.values.joined().reduce(0) { $0 + $1.tasks.count } }
  }

  /// How many tasks there are under the id of `group`.
  func count(_ group: Group) -> Int {
    withGroup(of: group) { group, _ in group.tasks.count }
  }

  /// Runs `body`, under the lock, with the group that there is of the id of `new`, and the list of those with
  /// its hash; if there is none, with `new`, which is in no list.
  private func withGroup<Result: Sendable>(
    of new: Group, _ body: (Group, inout SmallList<Group>) -> Result
  ) -> Result {
    while true {
      // Kept until the lock is released: these may be the last references to ids.
      let seen = groups.withLock { $0[new.hash] ?? .none }
      let group = seen.first { new.hasID(of: $0) } ?? new
      let result: Result? = groups.withLock { groups in
        var place = groups[new.hash] ?? .none
        guard place.elementsEqual(seen, by: ===) else { return nil }
        let result = body(group, &place)
        groups[new.hash] = place.isEmpty ? nil : place
        return result
      }
      if let result { return result }
    }
  }
}

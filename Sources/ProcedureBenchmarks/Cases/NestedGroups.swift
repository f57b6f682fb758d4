import Foundation
import Procedures

private let width = 10

extension Contest {
  /// Groups of ten groups of ten groups …, with a piece of work at each end: what such an end costs
  /// with its part of the groups above it.
  static let nestedGroups = Contest(
    name: "nested groups", count: 10_000,
    entries: [
      Entry("procedure") { count in await OwnQueue.run([procedureTree(count)]) },
      Entry("DispatchGroup", .dispatch) { count in
        let all = DispatchGroup()
        all.enter()
        dispatchTree(count, all)
        await BareDispatch.finished(all)
      },
      Entry("task group", .tasks) { count in await taskTree(count) },
    ])

  /// A thousand groups, each of which holds a piece of work and the next group.
  static let deepGroups = Contest(
    name: "nested groups, 1,000 deep", count: 10_000,
    entries: [
      Entry("procedure") { count in
        await OwnQueue.run((0..<count / depth).map { _ in procedureTower() })
      },
      Entry("DispatchGroup", .dispatch) { count in
        let all = DispatchGroup()
        for _ in 0..<count / depth {
          all.enter()
          dispatchTower(depth, all)
        }
        await BareDispatch.finished(all)
      },
      Entry("task group", .tasks) { count in
        for _ in 0..<count / depth { await taskTower(depth) }
      },
    ])
}

private let depth = 1_000

private func procedureTree(_ count: Int) -> Procedure {
  guard count > 1 else { return NoOperation() }
  return GroupProcedure(children: (0..<width).map { _ in procedureTree(count / width) })
}

private func procedureTower() -> Procedure {
  (1..<depth).reduce(GroupProcedure(NoOperation())) { inner, _ in
    GroupProcedure(NoOperation(), inner)
  }
}

/// Leaves `outer` when everything below has been done.
private func dispatchTree(_ count: Int, _ outer: DispatchGroup) {
  let queue = DispatchQueue.global()
  guard count > 1 else {
    return queue.async {
      Tally.note()
      outer.leave()
    }
  }
  let group = DispatchGroup()
  for _ in 0..<width {
    group.enter()
    dispatchTree(count / width, group)
  }
  group.notify(queue: queue) { outer.leave() }
}

private func dispatchTower(_ depth: Int, _ outer: DispatchGroup) {
  let queue = DispatchQueue.global()
  let group = DispatchGroup()
  queue.async(group: group) { Tally.note() }
  if depth > 1 {
    group.enter()
    dispatchTower(depth - 1, group)
  }
  group.notify(queue: queue) { outer.leave() }
}

@concurrent
private func taskTree(_ count: Int) async {
  guard count > 1 else { return Tally.note() }
  await withDiscardingTaskGroup { group in
    for _ in 0..<width { group.addTask { await taskTree(count / width) } }
  }
}

@concurrent
private func taskTower(_ depth: Int) async {
  await withDiscardingTaskGroup { group in
    group.addTask { Tally.note() }
    if depth > 1 { group.addTask { await taskTower(depth - 1) } }
  }
}

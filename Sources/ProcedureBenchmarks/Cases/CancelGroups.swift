import Procedures

private let width = 100

extension Contest {
  /// The same in groups of a hundred, cancelled group by group.
  static let cancelGroups = Contest(
    name: "cancel, in groups", count: 100_000,
    entries: [
      .timed("child of a pending group", tally: 0) { count in
        let queue = ProcedureQueue()
        queue.isSuspended = true
        let groups = (0..<count / width).map { _ in
          GroupProcedure(children: (0..<width).map { _ in NoOperation() })
        }
        queue.add(groups)
        return await cancel(groups, on: queue)
      },
      .timed("executing child of a group") { count in
        let queue = ProcedureQueue()
        let groups = (0..<count / width).map { _ in
          GroupProcedure(children: (0..<width).map { _ in Waiting() })
        }
        queue.add(groups)
        while !groups.allSatisfy({ $0.children.allSatisfy(\.isExecuting) }) {
          try? await Task.sleep(for: .milliseconds(1))
        }
        return await cancel(groups, on: queue)
      },
      .timed("task of a task group", .tasks, share: 4) { count in
        let parking = Parking()
        let tasks = (0..<count / width).map { _ in
          Task.detached {
            await withDiscardingTaskGroup { group in
              for _ in 0..<width {
                group.addTask {
                  await parking.wait()
                  Tally.note()
                }
              }
            }
          }
        }
        await parking.filled(with: count)
        return await ContinuousClock().measure {
          for task in tasks { task.cancel() }
          for task in tasks { await task.value }
        }
      },
    ])

  private static func cancel(
    _ groups: [GroupProcedure], on queue: ProcedureQueue
  ) async -> Duration {
    let duration = await ContinuousClock().measure {
      for group in groups { group.cancel() }
      await queue.waitUntilAllFinished()
    }
    expect(
      groups.allSatisfy { $0.isFinished && $0.children.allSatisfy(\.isCancelled) },
      "not all were cancelled")
    return duration
  }
}

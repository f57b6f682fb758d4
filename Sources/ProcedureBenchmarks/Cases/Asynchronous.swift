import Procedures

extension Contest {
  /// The cost of an `async` closure as a procedure.
  static let asynchronous = Contest(
    name: "async procedure", count: 20_000,
    entries: [
      Entry("AsyncProcedure") { count in
        await OwnQueue.run(count) { AsyncProcedure { Tally.note() } }
      },
      Entry("AsyncProcedure with a finish handle") { count in
        await OwnQueue.run(count) {
          AsyncProcedure(.callback) { finish in
            Tally.note()
            finish()
          }
        }
      },
      Entry("procedure") { count in await OwnQueue.run(count) { NoOperation() } },
      Entry("task", .tasks) { count in
        let tasks = (0..<count).map { _ in Task.detached { Tally.note() } }
        for task in tasks { await task.value }
      },
      Entry("task of a task group", .tasks) { count in await Tasks.run(count) { Tally.note() } },
    ])
}

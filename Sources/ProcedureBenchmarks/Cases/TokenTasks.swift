import Cancellation

extension Contest {
  /// The bridges from tokens to tasks and back, entered and left.
  static let tokenTasks = Contest(
    name: "token, tasks", count: 200_000,
    entries: [
      Entry("withCancellationHandler(for:)") { count in
        let source = CancellationTokenSource()
        for _ in 0..<count {
          await withCancellationHandler(for: source.token) {
            Tally.note()
          } onCancel: {
          }
        }
      },
      Entry("withCancellationToken") { count in
        for _ in 0..<count {
          await withCancellationToken { token in
            blackHole(token)
            Tally.note()
          }
        }
      },
      Entry("withTaskCancellationHandler", .tasks) { count in
        for _ in 0..<count {
          await withTaskCancellationHandler {
            Tally.note()
          } onCancel: {
          }
        }
      },
    ])

  /// A task that a token can cancel, started and awaited.
  static let tokenTask = Contest(
    name: "token, task cancelled by it", count: 20_000,
    entries: [
      Entry("Task(cancelledBy:)") { count in
        let source = CancellationTokenSource()
        for _ in 0..<count { _ = try? await Task(cancelledBy: source.token) { Tally.note() }.value }
      },
      Entry("Task", .tasks) { count in
        for _ in 0..<count { await Task { Tally.note() }.value }
      },
    ])
}

import Procedures

/// What procedures are put on in contests.
enum OwnQueue {
  /// Adds procedures one by one.
  static func run(
    _ count: Int, on queue: ProcedureQueue = ProcedureQueue(), _ make: () -> Procedure
  ) async {
    for _ in 0..<count { queue.add(make()) }
    await queue.waitUntilAllFinished()
  }

  /// Adds them all at once.
  static func run(
    _ procedures: [Procedure], on queue: ProcedureQueue = ProcedureQueue()
  ) async {
    queue.add(procedures)
    await queue.waitUntilAllFinished()
  }
}

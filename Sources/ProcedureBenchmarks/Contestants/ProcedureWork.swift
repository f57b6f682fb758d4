import Procedures

/// A procedure that does nothing: made, added, executed, finished, released.
final class NoOperation: Procedure, @unchecked Sendable {
  override func execute() {
    Tally.note()
    finish()
  }
}

enum ProcedureWork {
  /// Adds procedures one by one, and returns when all have finished.
  static func run(_ count: Int, _ make: () -> Procedure) async {
    let queue = ProcedureQueue()
    for _ in 0..<count { queue.add(make()) }
    await queue.waitUntilAllFinished()
  }

  /// Adds all procedures in one call, and returns when all have finished.
  static func run(_ procedures: [Procedure]) async {
    let queue = ProcedureQueue()
    queue.add(procedures)
    await queue.waitUntilAllFinished()
  }

  /// Each procedure depends on its predecessor, which has already been added.
  static func runChain(_ count: Int) async {
    let queue = ProcedureQueue()
    var last: Procedure?
    for _ in 0..<count {
      let next = NoOperation()
      if let last { next.add(dependency: last) }
      queue.add(next)
      last = next
    }
    await queue.waitUntilAllFinished()
  }

  static func runGroup(_ count: Int) async {
    await run([GroupProcedure(children: (0..<count).map { _ in NoOperation() })])
  }

  /// A suspended queue with `count` waiting procedures.
  static func pending(_ count: Int, _ make: () -> Procedure = { NoOperation() }) -> ProcedureQueue {
    let queue = ProcedureQueue()
    queue.isSuspended = true
    for _ in 0..<count { queue.add(make()) }
    return queue
  }

  static func cancelAll(_ queue: ProcedureQueue) async {
    queue.cancelAll()
    await queue.waitUntilAllFinished()
    expect(queue.count == 0, "\(queue.count) procedures were not cancelled")
  }

  /// A queue with `count` started delays, due in 1,000 seconds or more.
  static func delays(_ count: Int) async -> ProcedureQueue {
    let queue = ProcedureQueue()
    for index in 0..<count { queue.add(DelayProcedure(by: .seconds(1_000 + index % 1_000))) }
    // Ready procedures start in the order of adding: when this block has run, the delays have
    // started.
    _ = await queue.run(BlockProcedure {})
    // It counts only delays, since the finished block may not have left its queue yet.
    let pending = queue.procedures.count { $0 is DelayProcedure }
    expect(pending == count, "\(pending) delays are pending")
    return queue
  }
}

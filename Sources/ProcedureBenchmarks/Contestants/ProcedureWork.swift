import Procedures

/// A procedure that does nothing: made, added, executed, finished, released.
final class NoOperation: Procedure, @unchecked Sendable {
  override func execute() {
    Tally.note()
    finish()
  }
}

/// Work as procedures of a queue.
enum ProcedureWork {
  /// Adds procedures one by one, and returns when all have finished.
  static func run(_ count: Int, _ make: () -> Procedure) async {
    let queue = ProcedureQueue()
    for _ in 0..<count { queue.add(make()) }
    await queue.waitUntilAllFinished()
  }

  /// Adds them at once.
  static func run(_ procedures: [Procedure]) async {
    let queue = ProcedureQueue()
    queue.add(procedures)
    await queue.waitUntilAllFinished()
  }

  /// Each depends on the one before, which is already on its way.
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

  /// A suspended queue with so many, which wait.
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

  /// A queue on which so many delays have been scheduled, all of them far from their ends.
  static func delays(_ count: Int) async -> ProcedureQueue {
    let queue = ProcedureQueue()
    for index in 0..<count { queue.add(DelayProcedure(by: .seconds(1_000 + index % 1_000))) }
    // Ready procedures start in the order of adding: when this one has run, the delays have started.
    _ = await queue.run(BlockProcedure {})
    // One that has finished may not have left its queue.
    let pending = queue.procedures.count { $0 is DelayProcedure }
    expect(pending == count, "\(pending) delays are pending")
    return queue
  }
}

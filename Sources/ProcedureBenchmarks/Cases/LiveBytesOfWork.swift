import Foundation
import Procedures

extension Contest {
  /// What malloc holds for each piece of work that waits.
  static let bytesOfWork = Contest(
    name: "live bytes, pending work", unit: .bytes, mostRounds: 3, count: 20_000,
    entries: [
      .measured("procedure", tally: 0) { count in await pendingBytes(count) { NoOperation() } },
      .measured("BlockProcedure", tally: 0) { count in
        await pendingBytes(count) { BlockProcedure { Tally.note() } }
      },
      .measured("child of a group", tally: 0) { count in
        let queue = ProcedureQueue()
        queue.isSuspended = true
        let bytes = await LiveBytes.each(of: count) {
          let group = GroupProcedure()
          for _ in 0..<count { group.add(child: NoOperation()) }
          queue.add(group)
          return group
        }
        queue.cancelAll()
        await queue.waitUntilAllFinished()
        return [bytes]
      },
      .measured("link of a chain", tally: 0) { count in
        var last: Procedure?
        return await pendingBytes(count) {
          let next = NoOperation()
          if let last { next.add(dependency: last) }
          last = next
          return next
        }
      },
      .measured("block on a DispatchQueue", .dispatch) { count in
        let queue = BareDispatch.concurrentQueue()
        queue.suspend()
        let bytes = await LiveBytes.each(of: count) {
          for _ in 0..<count { queue.async { Tally.note() } }
        }
        queue.resume()
        await BareDispatch.drained(queue)
        return [bytes]
      },
      .measured("waiting task", .tasks) { count in
        let parking = Parking()
        var task: Task<Void, Never>?
        let bytes = await LiveBytes.each(of: count) {
          task = Task.detached {
            await withDiscardingTaskGroup { group in
              for _ in 0..<count {
                group.addTask {
                  await parking.wait()
                  Tally.note()
                }
              }
            }
          }
          await parking.filled(with: count)
        }
        task?.cancel()
        await task?.value
        return [bytes]
      },
      .measured("operation", .operations, share: 10, tally: 0) { count in
        let queue = OperationQueue()
        queue.isSuspended = true
        let bytes = await LiveBytes.each(of: count) {
          for _ in 0..<count { queue.addOperation(BlockOperation { Tally.note() }) }
        }
        queue.cancelAllOperations()
        queue.isSuspended = false
        await Operations.drained(queue)
        return [bytes]
      },
    ])

  private static func pendingBytes(_ count: Int, _ make: () -> Procedure) async -> [Double] {
    let queue = ProcedureQueue()
    queue.isSuspended = true
    let bytes = await LiveBytes.each(of: count) {
      for _ in 0..<count { queue.add(make()) }
    }
    expect(queue.count == count, "\(queue.count) procedures are pending")
    queue.cancelAll()
    await queue.waitUntilAllFinished()
    return [bytes]
  }
}

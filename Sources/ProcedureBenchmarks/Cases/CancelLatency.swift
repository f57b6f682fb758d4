import Procedures
import Synchronization

private let nodes = 1_000
private let width = 100

extension Contest {
  /// From the cancel of a token until a procedure with a thousand nested children has finished, and
  /// so have all of them.
  static let cancelLatency = Contest(
    name: "cancel latency, 1,000 nested children", item: "trial", figures: Latencies.figures,
    count: 20,
    entries: [
      .measured("groups of executing procedures", tally: nodes) { count in
        await latencies(count) {
          tree { Waiting() }
        } isReady: {
          areExecuting($0)
        }
      },
      .measured("groups that are pending", tally: 0) { count in
        await latencies(count, isSuspended: true) {
          tree { NoOperation() }
        } isReady: { _ in
          true
        }
      },
      .measured("1,000 groups, one in the other, executing", tally: 1) { count in
        await latencies(count) {
          (0..<nodes).reduce(Waiting() as Procedure) { inner, _ in GroupProcedure(inner) }
        } isReady: {
          areExecuting($0)
        }
      },
      .measured("task groups of waiting tasks", .tasks, tally: nodes) { count in
        let latencies = Latencies()
        for _ in 0..<count {
          let parking = Parking()
          let task = Task.detached {
            await withDiscardingTaskGroup { group in
              for _ in 0..<nodes / width { group.addTask { await children(parking) } }
            }
            return ContinuousClock.now
          }
          await parking.filled(with: nodes)
          let start = ContinuousClock.now
          task.cancel()
          latencies.note(since: start, until: await task.value)
        }
        return latencies.percentiles
      },
    ])

  @concurrent
  private static func children(_ parking: Parking) async {
    await withDiscardingTaskGroup { group in
      for _ in 0..<width {
        group.addTask {
          await parking.wait()
          Tally.note()
        }
      }
    }
  }

  private static func tree(_ make: () -> Procedure) -> Procedure {
    GroupProcedure(
      children: (0..<nodes / width).map { _ in
        GroupProcedure(children: (0..<width).map { _ in make() })
      })
  }

  /// Whether everything below executes.
  private static func areExecuting(_ procedure: Procedure) -> Bool {
    var rest = [procedure]
    while let next = rest.popLast() {
      guard next.isExecuting else { return false }
      if let group = next as? GroupProcedure { rest += group.children }
    }
    return true
  }

  private static func latencies(
    _ count: Int, isSuspended: Bool = false, _ make: () -> Procedure,
    isReady: (Procedure) -> Bool
  ) async -> [Double] {
    let latencies = Latencies()
    for _ in 0..<count {
      let queue = ProcedureQueue()
      queue.isSuspended = isSuspended
      let procedure = make()
      let source = CancellationTokenSource()
      queue.add(procedure, cancelledBy: source.token)
      while !isReady(procedure) { try? await Task.sleep(for: .milliseconds(1)) }
      let start = Mutex(ContinuousClock.now)
      procedure.addDidFinishBlockObserver { _, _ in
        latencies.note(since: start.withLock { $0 })
      }
      start.withLock { $0 = .now }
      source.cancel()
      await queue.waitUntilAllFinished()
    }
    expect(latencies.count == count, "a procedure did not finish")
    return latencies.percentiles
  }
}

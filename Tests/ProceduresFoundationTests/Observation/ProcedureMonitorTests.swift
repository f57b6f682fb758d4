import Observation
import ProcedureTestSupport
import ProceduresFoundation
import Testing

@MainActor @Suite(.hangLimit) struct ProcedureMonitorTests {
  private let queue = ProcedureQueue()

  /// Waits, by nothing but observation, until `condition` holds.
  private func wait(
    until condition: @escaping @MainActor @Sendable () -> Bool
  ) async {
    while true {
      let changed = Gate()
      let holds = withObservationTracking(condition) { changed.open() }
      if holds { return }
      await changed.wait()
    }
  }

  @Test("I6: state, cancel and outcome are observed, to the last one")
  func life() async {
    let procedure = TracedProcedure("p", end: .whenToldOrCancelled)
    let monitor = ProcedureMonitor(procedure, interval: .zero)
    #expect(monitor.state == .initialized && monitor.name == "p")
    #expect(monitor.outcome == nil)
    queue.add(procedure)
    await wait { monitor.state == .executing }
    procedure.cancel(withError: TestError("e"))
    await wait { monitor.isCancelled }
    await wait { monitor.outcome != nil }
    #expect(monitor.state == .finished && monitor.outcome?.isCancelled == true)
    #expect(monitor.outcome?.errors.count == 1 && monitor.fractionCompleted == 1)

    let late = ProcedureMonitor(procedure)
    #expect(late.state == .finished && late.isCancelled && late.outcome != nil)
    #expect(late.id == monitor.id && late.children.isEmpty)
  }

  @Test("I6: ten thousand changes are one update, which shows the last")
  func coalescing() async {
    let procedure = TracedProcedure("p", end: .whenTold)
    let monitor = ProcedureMonitor(procedure, interval: .zero)
    #expect(monitor.fractionCompleted == 0)
    queue.add(procedure)
    await wait { monitor.state == .executing }
    let changes = Counter()
    withObservationTracking {
      _ = monitor.fractionCompleted
    } onChange: {
      changes.increment()
    }
    // The main actor is ours meanwhile.
    for step in 1...10_000 { procedure.report(fractionCompleted: Double(step) / 20_000) }
    await wait { monitor.fractionCompleted == 0.5 }
    #expect(changes.value == 1)
    procedure.finish()
    await wait { monitor.fractionCompleted == 1 && monitor.outcome != nil }
  }

  @Test("I6: an interval lies between two updates, and the last change is shown after it")
  func interval() async {
    let procedure = TracedProcedure("p", end: .whenTold)
    let monitor = ProcedureMonitor(procedure, interval: .milliseconds(20))
    _ = monitor.fractionCompleted
    queue.add(procedure)
    await wait { monitor.state == .executing }
    let begin = ContinuousClock.now
    var looks = 0
    let reports = Task.detached {
      for step in 1...2000 {
        procedure.report(fractionCompleted: Double(step) / 2000)
        if step % 20 == 0 { try? await Task.sleep(for: .milliseconds(1)) }
      }
    }
    while monitor.fractionCompleted < 1 {
      let before = monitor.fractionCompleted
      await wait { monitor.fractionCompleted != before }
      looks += 1
    }
    await reports.value
    let passed = begin.duration(to: .now)
    #expect(looks <= Int(passed / .milliseconds(20)) + 2)
    procedure.finish()
    await wait { monitor.outcome?.isSuccess == true }
  }

  @Test("I6: a group's children are monitors, the same each time, and late ones come")
  func children() async {
    let first = TracedProcedure("first", end: .whenTold)
    let group = GroupProcedure(first)
    let monitor = ProcedureMonitor(group, interval: .zero)
    #expect(monitor.children.map(\.name) == ["first"])
    let child = monitor.children[0]
    queue.add(group)
    await wait { child.state == .executing }
    let second = TracedProcedure("second", end: .whenTold)
    group.add(child: second)
    await wait { monitor.children.count == 2 }
    #expect(monitor.children[0] === child && monitor.children[1].procedure === second)
    first.report(fractionCompleted: 0.5)
    await wait { monitor.fractionCompleted == 0.25 }
    #expect(await eventually { second.isExecuting })
    first.finish()
    second.finish()
    await wait { monitor.outcome != nil && monitor.children.allSatisfy { $0.outcome != nil } }
    #expect(monitor.fractionCompleted == 1)
  }

  @Test("I6: a queue's procedures, counts and suspension are observed")
  func queues() async {
    let first = TracedProcedure("first", end: .whenTold)
    queue.isSuspended = true
    queue.add(first)
    let monitor = ProcedureQueueMonitor(queue, interval: .zero)
    #expect(monitor.count == 1 && monitor.isSuspended && monitor.fractionCompleted == 0)
    monitor.isSuspended = false
    #expect(!queue.isSuspended)
    queue.add(TracedProcedure("second", end: .whenToldOrCancelled))
    await wait { monitor.procedures.map(\.name) == ["first", "second"] }
    await wait { monitor.procedures.allSatisfy { $0.state == .executing } }
    first.finish()
    await wait { monitor.finishedCount == 1 }
    #expect(monitor.fractionCompleted == 0.5 && monitor.procedures.map(\.name) == ["second"])
    queue.cancelAll()
    await wait { monitor.count == 0 }
    #expect(monitor.fractionCompleted == 1)
    queue.isSuspended = true
    queue.add(BlockProcedure {})
    await wait { monitor.isSuspended && monitor.count == 1 }
    queue.isSuspended = false
    await wait { monitor.finishedCount == 3 }
  }

  @Test("I6: no procedure is lost of many that come and go at once")
  func many() async {
    let monitor = ProcedureQueueMonitor(queue)
    let queue = queue
    await Task.detached {
      for _ in 0..<2000 { queue.add(BlockProcedure {}) }
    }.value
    await wait { monitor.finishedCount == 2000 && monitor.count == 0 }
    #expect(monitor.fractionCompleted == 1)
  }

  @Test("I6: a procedure does not wait for the main actor, nor keep its monitor")
  func independent() async {
    weak var released: ProcedureMonitor?
    let procedure = TracedProcedure("p")
    do {
      let monitor = ProcedureMonitor(procedure)
      _ = (monitor.fractionCompleted, monitor.children)
      released = monitor
    }
    #expect(released == nil)
    let other = BlockProcedure {}
    let monitor = ProcedureMonitor(other)
    let finished = Gate()
    let last = BlockProcedure { finished.open() }
    last.add(dependencies: procedure, other)
    queue.add(procedure, other, last)
    finished.block()  // The main actor is ours, and gives nothing away.
    #expect(monitor.outcome == nil)
    await wait { monitor.outcome?.isSuccess == true }
    do {
      weak var queueMonitor: ProcedureQueueMonitor?
      do {
        let monitor = ProcedureQueueMonitor(queue)
        queueMonitor = monitor
        #expect(monitor.count == 0)
      }
      #expect(queueMonitor == nil)
      #expect(await queue.run(BlockProcedure {}).isSuccess)
    }
  }

  @Test("I6: a monitor shows that a procedure executes, though no event says so")
  func longExecute() async {
    let gate = Gate()
    let blocking = BlockProcedure { gate.block() }
    let monitor = ProcedureMonitor(blocking, interval: .zero)
    queue.add(blocking)
    await wait { monitor.state == .executing }
    #expect(monitor.outcome == nil)
    gate.open()
    await wait { monitor.state == .finished }
  }
}

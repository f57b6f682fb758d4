import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline

/// A build of some steps, with a bottleneck of each kind planted. In virtual time.
struct Example {
  let scenario: Scenario

  init(seed: UInt64 = 7) {
    scenario = Scenario(seed: seed, limit: 3)
  }

  func run() throws -> ProcedureTimeline.Snapshot {
    let queue = scenario.queue
    let disk = ExclusionCategory(named: "disk", in: ExclusionDomain(name: "example"))
    let fetch = lasting(4, "fetch sources")
    let sources = (1...6).map { number in
      lasting(2 + number % 3, "compile \(number).c")
    }
    for source in sources { source.add(dependency: fetch) }
    for source in sources.prefix(3) { source.add(condition: AtMost(1, of: disk)) }
    let link = lasting(3, "link")
    link.add(dependencies: sources)
    let tests = GroupProcedure(
      lasting(2, "unit tests"), lasting(5, "integration tests"),
      BlockProcedure { throw TestError("expected 3, found </script><img src=x onerror=alert(1)>") }
        .named("</script><img src=x onerror=alert(2)>")
    ).named("tests")
    tests.add(dependency: link)
    let documentation = lasting(30, "documentation")
    let held = lasting(1, "report")
    held.add(dependency: tests)
    let simulation = scenario.simulation
    held.addWillExecuteBlockObserver { _, pendingExecute in
      simulation.perform(after: .seconds(2)) { pendingExecute.release() }
    }
    queue.add(fetch)
    queue.add(sources)
    queue.add(link, tests, held, documentation)
    scenario.at(9) { documentation.cancel(withError: TestError("not needed")) }
    return try scenario.run()
  }

  /// Waits for each cause: the queue is suspended at first, and a condition, a barrier and a group
  /// follow.
  static func ofAllCauses() throws -> ProcedureTimeline.Snapshot {
    let scenario = Scenario(seed: 3, limit: 2)
    let (queue, simulation) = (scenario.queue, scenario.simulation)
    let licences = ExclusionCategory(named: "licences", in: ExclusionDomain(name: "causes"))
    queue.isSuspended = true
    scenario.at(3) { queue.isSuspended = false }
    let checks = (1...4).map { lasting(2, "check \($0)") }
    for check in checks.prefix(2) { check.add(condition: AtMost(1, of: licences)) }
    let upload = lasting(2, "upload")
    upload.add(condition: IsOnline(clock: queue.clock))
    upload.add(dependency: checks[3])
    let reports = GroupProcedure(lasting(1, "totals"), lasting(2, "charts")).named("reports")
    for report in reports.children {
      report.add(condition: RateLimit(1, per: .seconds(2), of: licences))
    }
    reports.add(dependency: upload)
    queue.add(checks)
    queue.add(upload, reports)
    queue.add(barrier: lasting(2, "clean up"))
    let letter = lasting(1, "letter")
    letter.addWillExecuteBlockObserver { _, pendingExecute in
      simulation.perform(after: .seconds(1)) { pendingExecute.release() }
    }
    letter.addWillFinishBlockObserver { _, _, pendingFinish in
      simulation.perform(after: .seconds(2)) { pendingFinish.release() }
    }
    queue.add(letter)
    let attempts = Counter()
    let send = RetryProcedure(name: "send", max: 2, wait: .constant(.seconds(2))) {
      TracedProcedure("attempt", failure: attempts.increment() < 2 ? TestError("busy") : nil)
    }
    send.add(dependency: letter)
    let stubborn = TracedProcedure("stubborn", end: .whenTold)
    stubborn.add(dependency: send)
    queue.add(send, stubborn)
    scenario.at(40) { stubborn.cancel() }
    scenario.at(43) { stubborn.finish() }
    return try scenario.run()
  }
}

private struct IsOnline: Condition {
  let clock: any Clock<Duration>

  func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    try await clock.sleep(for: .seconds(4))
    return .satisfied
  }
}

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
}

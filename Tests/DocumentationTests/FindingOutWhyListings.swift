import Procedures
import ProcedureTestSupport
import Testing

@Suite("Listings of the guide Finding out why something waits", .hangLimit)
struct FindingOutWhyListings {
  private let output = Recorder<String>()

  private func print(_ item: Any) { output.note("\(item)") }

  @Test("a snapshot of the queue says what waits")
  func snapshot() async {
    let queue = ProcedureQueue(name: "work")
    queue.isSuspended = true
    let procedure = CountWords("to be")
    queue.add(procedure)
    // listing: why-snapshot
    print(queue.snapshot())
    // end
    #expect(
      output.events == [
        """
        'work' (1 unfinished, suspended)
          'count the words' pending: its queue or group is suspended
        """
      ])
    queue.isSuspended = false
    _ = await procedure.waitUntilFinished()
  }

  @Test("the diagnostics handler reports a wait")
  func reports() async {
    let queue = ProcedureQueue()
    let output = output
    @Sendable func print(_ line: String) { output.note(line) }
    // listing: why-reports
    queue.cancellationGracePeriod = .seconds(5)
    queue.waitReportDelay = .seconds(30)
    queue.diagnosticsHandler = { diagnostic in
      print("\(diagnostic.code): \(diagnostic)")
    }
    // end
    let group = GroupProcedure()
    queue.isSuspended = true
    queue.add(group)
    group.finish()
    queue.isSuspended = false
    _ = await group.waitUntilFinished()
    #expect(output.events.first?.hasPrefix("finishRefused: finish() on 'GroupProcedure'") == true)
  }

  @Test("a cycle is reported, and ends")
  func cycle() async {
    let queue = ProcedureQueue()
    // listing: why-cycle
    let (write, check) = (CountWords("write"), CountWords("check"))
    write.add(dependency: check)
    check.add(dependency: write)
    queue.add(write, check)
    await queue.waitUntilAllFinished()
    for case let error as ProcedureError in write.errors where error.code == .dependencyCycle {
      print(error.cycle.joined(separator: " waits for "))
    }
    // end
    #expect(output.events == ["count the words waits for count the words"])
  }
}

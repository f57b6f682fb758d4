import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing

// listing: testing-bank
/// Reads what is there, and then writes what it comes to.
func transfer(_ amount: Int, to account: Account) -> GroupProcedure {
  let before = Account()
  let read = BlockProcedure { before.balance = account.balance }
  let write = BlockProcedure { account.balance = before.balance + amount }
  write.add(dependency: read)
  return GroupProcedure(read, write)
}
// end

/// Stands for something that is not safe to use from two places at once.
final class Account: @unchecked Sendable {
  var balance = 0
}

@Suite("Listings of the guide Testing your procedures", .hangLimit)
struct TestingListings {
  private let output = Recorder<String>()

  private func print(_ item: Any) { output.note("\(item)") }

  @Test("a test waits for a procedure")
  func waiting() async throws {
    let queue = ProcedureQueue()
    let upload = CountWords("to be or not to be")
    // listing: testing-waiting
    queue.add(upload)
    let outcome = try await upload.finished(within: .seconds(600))
    // end
    #expect(outcome == .succeeded)
  }

  @Test("a test clock moves time")
  func virtualTime() async throws {
    // listing: testing-clock
    let clock = TestClock()
    let queue = ProcedureQueue(clock: clock.clock)
    let reminder = DelayProcedure(by: .seconds(3600))
    reminder.addDidExecuteBlockObserver { _ in clock.advance(by: .seconds(3600)) }
    queue.add(reminder)
    try await reminder.finished(within: .seconds(600))
    // end
    #expect(clock.pendingCount == 0)
  }

  @Test("a test decides when procedures finish, and checks the order and the events")
  func records() async throws {
    let queue = ProcedureQueue()
    let upload = CountWords("to be")
    // listing: testing-records
    let steps = Steps()
    let recording = RecordingObserver(events: [.didCancel, .didFinish])
    let live = LiveInstances()

    let download = live.track(ManualProcedure(name: "download"))
    download.add(observer: recording)
    download.addDidFinishBlockObserver { _, _ in steps.expect(1) }
    upload.add(dependency: download)
    upload.addWillExecuteBlockObserver { _, _ in steps.expect(2) }
    queue.add(download, upload)

    try await download.executing(within: .seconds(600))
    download.finish()
    try await queue.allFinished(within: .seconds(600))
    try steps.finish(3)
    try recording.expect(["download did finish: succeeded"])
    // end
    #expect(live.labels.count == 1)
  }

  @Test("a simulation runs once")
  func oneRun() throws {
    // listing: testing-simulation
    let simulation = ProcedureSimulation(seed: 1)
    try simulation.run { simulation in
      let queue = simulation.makeQueue(name: "sync")
      let download = DelayProcedure(by: .seconds(60))
      download.name = "download"
      queue.add(download)
      simulation.perform("the user cancels", after: .seconds(2)) { download.cancel() }
    }
    print(simulation.log)
    // end
    #expect(
      output.events == [
        """
        0.000000000  download will execute
        0.000000000  download did execute
        2.000000000  the user cancels
        2.000000000  download did cancel
        2.000000000  download will finish
        2.000000000  download did finish: cancelled

        """
      ])
  }

  @Test("exploring finds an order that fails")
  func exploring() {
    let error = #expect(throws: SimulationError.self) {
      // listing: testing-explore
      try ProcedureSimulation.explore(seeds: 0..<10_000) { simulation in
        let account = Account()
        let queue = simulation.makeQueue()
        queue.add(transfer(100, to: account), transfer(20, to: account))
        try simulation.run()
        try simulation.expect(account.balance == 120, "\(account.balance) left of 120")
      }
      // end
    }
    #expect("\(error!)".contains("left of 120"))
  }

  @Test("exploring all proves that no order fails")
  func exploringAll() throws {
    // listing: testing-explore-all
    let coverage = try ProcedureSimulation.exploreAll(mostPreemptions: 2) { simulation in
      let account = Account()
      let queue = simulation.makeQueue(maxConcurrentProcedureCount: 1)
      queue.add(transfer(100, to: account), transfer(20, to: account))
      try simulation.run()
      try simulation.expect(account.balance == 120, "\(account.balance) left of 120")
    }
    print("\(coverage.orders) orders, and no others: \(coverage.isComplete)")
    // end
    #expect(coverage.isComplete)
  }

  @Test("a failing seed says how to repeat it")
  func replay() {
    #expect(throws: SimulationError.self) {
      let account = Account()
      // listing: testing-replay
      let simulation = ProcedureSimulation(seed: 0, draws: [0, 1])
      try simulation.run { simulation in
        let queue = simulation.makeQueue()
        queue.add(transfer(100, to: account), transfer(20, to: account))
        simulation.always("the account is not in debt") { account.balance >= 0 }
      }
      try simulation.expect(account.balance == 120, "\(account.balance) left of 120")
      // end
    }
  }

  @Test("an exclusion repairs the race")
  func repaired() throws {
    try ProcedureSimulation.explore(seeds: 0..<200) { simulation in
      let account = Account()
      let queue = simulation.makeQueue()
      let (first, second) = (transfer(100, to: account), transfer(20, to: account))
      // listing: testing-repair
      for transfer in [first, second] {
        transfer.add(condition: MutuallyExclusive<Account>())
      }
      // end
      queue.add(first, second)
      try simulation.run()
      try simulation.expect(account.balance == 120, "\(account.balance) left of 120")
    }
  }
}

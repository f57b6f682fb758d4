import Procedures
import ProcedureTestSupport
import Testing

/// Stands for what says whether there is a network.
struct Network: Sendable {
  var isReachable = true

  func reachability() async -> Bool { isReachable }
}

struct OfflineError: Error {}

// listing: conditions-type
struct IsOnline: Condition {
  let network: Network

  func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    await network.reachability() ? .satisfied : .failed(OfflineError())
  }
}
// end

// listing: conditions-synchronous
struct HasFiles: SynchronousCondition {
  let files: [String]

  func evaluate(_ procedure: Procedure) -> ConditionResult {
    files.isEmpty ? .ignored : .satisfied
  }
}
// end

/// Stands for something that asks the user, and calls back.
final class Microphone: Sendable {
  let isAllowed: Bool

  init(isAllowed: Bool) { self.isAllowed = isAllowed }

  func requestAccess(_ completion: @escaping @Sendable (Bool) -> Void) { completion(isAllowed) }
}

@Suite("Listings of the guide Conditions", .hangLimit)
struct ConditionListings {
  private let queue = ProcedureQueue()

  @Test("conditions decide whether a procedure runs")
  func adding() async {
    let (network, files) = (Network(isReachable: false), ["a"])
    let upload = BlockProcedure {}
    // listing: conditions-adding
    upload.add(condition: HasFiles(files: files))
    upload.add(condition: IsOnline(network: network))
    upload.add(condition: BlockCondition { files.count < 1_000 })
    queue.add(upload)
    // end
    #expect(await upload.waitUntilFinished() == .cancelled([OfflineError()]))
  }

  @Test("a condition may call back")
  func callback() async {
    let (record, microphone) = (BlockProcedure {}, Microphone(isAllowed: false))
    // listing: conditions-answer
    record.add(
      condition: AnswerCondition { _, answer in
        microphone.requestAccess { isGranted in answer(isGranted ? .satisfied : .ignored) }
      })
    // end
    #expect(await queue.run(record) == .cancelled([]))
  }

  @Test("conditions are combined")
  func compound() async {
    let network = Network(isReachable: false)
    let (upload, download) = (BlockProcedure {}, BlockProcedure {})
    // listing: conditions-compound
    let isCached = BlockCondition { true }
    download.add(condition: isCached || IsOnline(network: network))
    upload.add(condition: IgnoredCondition(IsOnline(network: network) && !isCached))
    // end
    #expect(await queue.run(download) == .succeeded)
    #expect(await queue.run(upload) == .cancelled([]))
  }

  @Test("a condition requires that dependencies succeeded")
  func dependencies() async {
    let resize = BlockProcedure { throw TestError("no space left") }
    let (upload, cleanUp, report) = (BlockProcedure {}, BlockProcedure {}, BlockProcedure {})
    // listing: conditions-dependencies
    upload.add(dependency: resize, requiring: .success)  // cancelled as soon as resize has failed
    cleanUp.add(dependency: resize)  // runs in any case
    report.add(dependencies: [resize, upload])
    report.add(condition: NoFailedDependencies())  // looks when both have finished
    // end
    queue.add(resize, upload, cleanUp, report)
    let failed = ProcedureError(.dependencyFailed, procedure: resize.name)
    #expect(await upload.waitUntilFinished() == .cancelled([failed]))
    #expect(await cleanUp.waitUntilFinished() == .succeeded)
    #expect(await report.waitUntilFinished() == .cancelled([failed]))
  }

  @Test("D5: a condition waits for some of several")
  func some() async {
    let gate = Gate()
    let votes = (0..<3).map { number in
      AsyncProcedure { if number == 2 { await gate.wait() } }
    }
    let (cache, server) = (BlockProcedure {}, AsyncProcedure { await gate.wait() })
    let (decide, refresh) = (BlockProcedure {}, BlockProcedure {})
    // listing: conditions-some
    decide.add(condition: AtLeast(2, of: votes, requiring: .success))  // the first two
    refresh.add(condition: AtLeast(1, of: [cache, server]))  // any of them
    // end
    queue.add(votes)
    queue.add(cache, server, decide, refresh)
    #expect(await decide.waitUntilFinished() == .succeeded)
    #expect(await refresh.waitUntilFinished() == .succeeded)
    #expect(!votes[2].isFinished && !server.isFinished)
    gate.open()
    await queue.waitUntilAllFinished()
  }

  @Test("a condition has something run before it")
  func prerequisites() async {
    let asked = Gate()
    final class AskForMicrophone: Procedure, @unchecked Sendable {
      let asked: Gate
      init(_ asked: Gate) { self.asked = asked }
      override func execute() {
        asked.open()
        finish()
      }
    }
    let (record, level) = (BlockProcedure {}, BlockProcedure {})
    // listing: conditions-prerequisites
    let hasMicrophone = BlockCondition { asked.isOpen }
      .withPrerequisites { _ in [AskForMicrophone(asked)] }
    record.add(condition: hasMicrophone)
    level.add(condition: SilentCondition(hasMicrophone))  // does not ask
    // end
    #expect(await queue.run(level) == .cancelled([]))
    #expect(await queue.run(record) == .succeeded)
  }
}

import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing
import XCTest

@Suite(.hangLimit) struct WaitingTests {
  private let queue = ProcedureQueue(name: "uploads")

  @Test("a wait that ends in time returns the outcome")
  func inTime() async throws {
    let procedure = TracedProcedure(failure: TestError("full"))
    queue.add(procedure)
    #expect(try await procedure.finished(within: .seconds(1_000)) == .failed([TestError("full")]))
    try await queue.allFinished(within: .seconds(1_000))
  }

  @Test("a wait that does not end in time throws, with what everything on the queue waits for")
  func tooLate() async throws {
    let endless = ManualProcedure(name: "endless")
    let child = TracedProcedure("child")
    child.add(dependency: endless)
    let group = GroupProcedure(child)
    queue.add(endless, group)
    try await endless.executing(within: .seconds(1_000))
    #expect(await eventually { group.isExecuting })
    let error = await #expect(throws: WaitTimedOut.self) {
      try await child.finished(within: .milliseconds(5))
    }
    #expect("\(error!)".hasPrefix("'child' did not finish within 0.005 seconds:"))
    #expect("\(error!)".contains("'child' pending: it waits for 'endless'"))
    let second = await #expect(throws: WaitTimedOut.self) {
      try await queue.allFinished(within: .milliseconds(5))
    }
    #expect("\(second!)".contains("'uploads' (2 unfinished)"))
    endless.cancel()
    try await queue.allFinished(within: .seconds(1_000))
  }

  @Test("a procedure that finishes when told does so; early it is refused")
  func manual() async throws {
    let manual = ManualProcedure(name: "manual")
    #expect(!manual.finish())
    queue.add(manual)
    try await manual.executing(within: .seconds(1_000))
    #expect(manual.finish(withErrors: [TestError("told")]))
    #expect(try await manual.finished(within: .seconds(1_000)) == .failed([TestError("told")]))
    let stubborn = ManualProcedure(endsWhenCancelled: false)
    queue.add(stubborn)
    try await stubborn.executing(within: .seconds(1_000))
    stubborn.cancel()
    await #expect(throws: WaitTimedOut.self) {
      try await stubborn.finished(within: .milliseconds(5))
    }
    stubborn.finish()
    try await stubborn.finished(within: .seconds(1_000))
  }
}

/// Waiting for an execution.
@Suite(.hangLimit) struct ExecutingTests {
  @Test("any procedure can be waited for until it executes, or has ended without")
  func executing() async throws {
    let (queue, gate) = (ProcedureQueue(), Gate())
    let procedure = AsyncProcedure { await gate.wait() }
    queue.add(procedure)
    try await procedure.executing(within: .seconds(1_000))
    #expect(procedure.isExecuting)
    gate.open()
    let cancelled = BlockProcedure {}
    cancelled.cancel()
    queue.add(cancelled)
    try await cancelled.executing(within: .seconds(1_000))
    try await queue.allFinished(within: .seconds(1_000))
  }

  @Test("one that does not is named, with what it waits for")
  func tooLate() async {
    let queue = ProcedureQueue(name: "uploads")
    queue.isSuspended = true
    let procedure = BlockProcedure(name: "upload") {}
    queue.add(procedure)
    let error = await #expect(throws: WaitTimedOut.self) {
      try await procedure.executing(within: .milliseconds(5))
    }
    #expect("\(error!)".hasPrefix("'upload' did not execute within 0.005 seconds:"))
    #expect("\(error!)".contains("'upload' pending: its queue or group is suspended"))
    procedure.cancel()
  }
}

/// The blocking forms, from the other test framework.
final class WaitingFromXCTestTests: XCTestCase {
  func testBlockingWaits() throws {
    let queue = ProcedureQueue(name: "uploads")
    let manual = ManualProcedure()
    queue.add(manual)
    XCTAssertThrowsError(try manual.blockUntilFinished(within: .milliseconds(5))) { error in
      XCTAssertTrue("\(error)".contains("'manual' did not finish"), "\(error)")
    }
    XCTAssertThrowsError(try queue.blockUntilAllFinished(within: .milliseconds(5)))
    manual.cancel()
    XCTAssertEqual(try manual.blockUntilFinished(within: .seconds(1_000)), .cancelled([]))
    try queue.blockUntilAllFinished(within: .seconds(1_000))
  }
}

import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing
import XCTest

@Suite struct WaitingTests {
  private let queue = ProcedureQueue(name: "uploads")

  @Test("a wait that is in time returns the outcome")
  func inTime() async throws {
    let procedure = TracedProcedure(failure: TestError("full"))
    queue.add(procedure)
    #expect(try await procedure.finished(within: .seconds(60)) == .failed([TestError("full")]))
    try await queue.allFinished(within: .seconds(60))
  }

  @Test("a wait that is not throws, with what everything on the queue waits for")
  func tooLate() async throws {
    let endless = ManualProcedure(name: "endless")
    let child = TracedProcedure("child")
    child.add(dependency: endless)
    queue.add(endless, GroupProcedure(child))
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
    try await queue.allFinished(within: .seconds(60))
  }

  @Test("a procedure that finishes when told does so; early it is refused")
  func manual() async throws {
    let manual = ManualProcedure(name: "manual")
    #expect(!manual.finish())
    queue.add(manual)
    try await manual.executing(within: .seconds(60))
    #expect(manual.finish(withErrors: [TestError("told")]))
    #expect(try await manual.finished(within: .seconds(60)) == .failed([TestError("told")]))
    let stubborn = ManualProcedure(endsWhenCancelled: false)
    queue.add(stubborn)
    try await stubborn.executing(within: .seconds(60))
    stubborn.cancel()
    await #expect(throws: WaitTimedOut.self) {
      try await stubborn.finished(within: .milliseconds(5))
    }
    stubborn.finish()
    try await stubborn.finished(within: .seconds(60))
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
    XCTAssertEqual(try manual.blockUntilFinished(within: .seconds(60)), .cancelled([]))
    try queue.blockUntilAllFinished(within: .seconds(60))
  }
}

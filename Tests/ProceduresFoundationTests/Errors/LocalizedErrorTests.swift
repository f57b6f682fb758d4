import Foundation
import ProceduresFoundation
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct LocalizedErrorTests {
  @Test("the localized description of an error is its sentence")
  func sentences() async throws {
    let queue = ProcedureQueue()
    let failing = ProcessProcedure("no-such-program-at-all")
    let group = GroupProcedure(failing)
    queue.add(group)
    _ = await group.waitUntilFinished()
    let error = try #require(group.errors.first)
    #expect(error.localizedDescription == "\(error)")
    let cause = try #require((error as? ProcedureError)?.underlyingErrors.first)
    #expect(cause is ProcessError && cause.localizedDescription == "\(cause)")
  }
}

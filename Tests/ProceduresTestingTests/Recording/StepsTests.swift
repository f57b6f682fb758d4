import ProceduresTesting
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct StepsTests {
  @Test("steps in order are fine")
  func inOrder() throws {
    let steps = Steps()
    #expect(steps.report == nil)
    for number in 1...3 { steps.expect(number) }
    #expect(steps.report == nil)
    try steps.finish(4)
  }

  @Test("steps out of order, and those that are missing, are reported with their places")
  func outOfOrder() throws {
    let steps = Steps()
    steps.expect(2, file: "Tests/A.swift", line: 7)
    steps.expect(1, file: "Tests/A.swift", line: 8)
    let error = #expect(throws: StepsError.self) {
      try steps.finish(4, file: "Tests/A.swift", line: 9)
    }
    #expect(
      "\(error!)" == """
        The steps were not 1 to 4 in this order:
        ! 2  Tests/A.swift:7
        ! 1  Tests/A.swift:8
        ! 4  Tests/A.swift:9
        - 3  did not happen
        """)
  }
}

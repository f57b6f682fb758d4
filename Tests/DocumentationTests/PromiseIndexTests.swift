import Foundation
import ProcedureTestSupport
import Testing

/// Each promise has tests, which carry its number.
@Suite(.hangLimit) struct PromiseIndexTests {
  /// With PROMISE_INDEX set it prints them, in the order of the page.
  @Test("each promise has a test, and each number of a test is a promise")
  func index() throws {
    let index = try PromiseIndex.ofPackage()
    #expect(index.untested == [])
    #expect(index.unknown == [])
    #expect(index.unnumbered == [])
    if ProcessInfo.processInfo.environment["PROMISE_INDEX"] != nil { print(index.text) }
  }

  @Test("the index finds numbers in names, what is not tested, not promised, or not numbered")
  func finds() {
    let index = PromiseIndex(
      promises:
        "## C. Cancelling\n- **C1** One\n- **C2** Two\n  more\n- Three\n## F. Finishing\n- **F1** …\n",
      sources: [
        ("Tests/B.swift", "@Test(\n    \"F1, C1: two\", .enabled(if: true))\n@Test(\"Z9: none\")"),
        ("Tests/A.swift", "@Test(\"C1: one\") // C2: not a name\n@Suite(\"C2: not a test\")"),
      ])
    #expect(index.untested == ["C2"])
    #expect(index.unknown == ["Z9"])
    #expect(index.unnumbered == ["- Three"])
    #expect(
      index.tests["C1"] == [
        .init(path: "Tests/A.swift", sentence: "one"),
        .init(path: "Tests/B.swift", sentence: "two"),
      ])
    #expect(
      index.text.contains(
        "- **C1**\n  - one ([A](../Tests/A.swift))\n  - two ([B](../Tests/B.swift))\n- **C2**\n"))
    #expect(index.sections.map(\.title) == ["C. Cancelling", "F. Finishing"])
  }
}

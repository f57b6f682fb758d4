import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("Did you mean", .hangLimit)
struct SpellingTests {
  @Test(
    "a near word is suggested, and none if none is near",
    arguments: [
      ("afer", "after"), ("output", "outputs"), ("imputs", "inputs"), ("enviroment", "environment"),
      ("Timeout", "timeout"), ("rnu", "run"), ("xyz", nil), ("in", nil), ("each", nil),
    ])
  func nearest(word: String, expected: String?) {
    let words = [
      "after", "outputs", "outputsOf", "inputs", "environment", "timeout", "run", "each",
    ]
    #expect(Spelling.nearest(to: word, in: words) == expected)
  }

  @Test("the first in the alphabet is suggested of words that are equally near")
  func order() {
    #expect(Spelling.nearest(to: "bake", in: ["make", "cake", "lake"]) == "cake")
    #expect(Spelling.nearest(to: "bake", in: ["lake", "cake", "make"]) == "cake")
  }

  @Test("an option that does not exist is answered by the one that does")
  func options() {
    #expect(throws: UsageError("there is no option '--job'; did you mean '--jobs'?")) {
      try Options(["--job", "2"])
    }
    #expect(Help.options.contains("--verbose") && Help.options.contains("--keep-going"))
  }
}

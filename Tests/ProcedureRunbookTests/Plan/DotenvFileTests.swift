import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("A file of variables", .hangLimit)
struct DotenvFileTests {
  @Test("lines NAME=value are read, with quotes, comments and `export`, and nothing is expanded")
  func forms() throws {
    let text = """
      # comment

      A=1
      export B = two words   # comment
      C='as \\n it # is'
      D="line\\nnext \\"q\\" \\$x \\d" # comment
      E=
      F=a#b=c
      G=$A
      H=""
      """
    let variables = try DotenvFile(Array(text.utf8)).variables
    #expect(
      variables == [
        "A": "1", "B": "two words", "C": "as \\n it # is", "D": "line\nnext \"q\" $x \\d", "E": "",
        "F": "a#b=c", "G": "$A", "H": "",
      ])
    #expect(try DotenvFile(Array("A=1\r\nB='2'\r\n".utf8)).variables == ["A": "1", "B": "2"])
  }

  @Test(
    "a line that is none is an error that names it",
    arguments: ["A", "A B=1", "=1", "1A=2", "A='x", "A='x'y", "é=1"])
  func mistakes(line: String) {
    let error = #expect(throws: DotenvFile.BadLine.self) {
      try DotenvFile(Array("X=1\n\(line)\n".utf8))
    }
    #expect(error?.line == 2)
  }
}

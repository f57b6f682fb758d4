import Foundation
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("Lines of output", .hangLimit)
struct OutputLinesTests {
  private func texts(_ lines: [OutputLines.Line]) -> [String] {
    lines.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("pieces are put together, also within a character")
  func pieces() {
    var lines = OutputLines()
    let bytes = Array("é\nb\n\nlast".utf8)
    var all: [String] = []
    for byte in bytes { all += texts(lines.append(Data([byte]))) }
    #expect(all == ["é", "b", ""])
    #expect(texts(lines.end()) == ["last"])
    #expect(lines.end() == [])
  }

  @Test("only the last lines are remembered, and no line grows without end")
  func bounds() {
    var lines = OutputLines(capacity: 2)
    _ = lines.append(Data("1\n2\n3\n".utf8))
    #expect(lines.last == ["2", "3"])
    #expect(lines.append(Data(count: 10_000)).count == 2)
  }

  @Test("a line that is cut because it is too long is cut between characters")
  func longLines() {
    for offset in 0..<4 {
      var lines = OutputLines()
      let text = String(repeating: "x", count: offset) + String(repeating: "€😀", count: 2000)
      let cut = texts(lines.append(Data(text.utf8)) + lines.end())
      #expect(cut.count > 1 && cut.joined() == text)
    }
  }

  @Test("a line that overwrites itself is shown in its last form")
  func carriageReturns() {
    var lines = OutputLines()
    #expect(texts(lines.append(Data("10%\r20%\r30%\r\n".utf8))) == ["30%"])
    #expect(texts(lines.append(Data("1%\r2%".utf8)) + lines.end()) == ["2%"])
    // A line in several pieces, some of them without a return.
    for piece in ["a\nb\r", "c", "d"] { _ = lines.append(Data(piece.utf8)) }
    #expect(texts(lines.append(Data("e\nf\n".utf8))) == ["cde", "f"])
    #expect(
      texts(lines.append(Data("g".utf8)) + lines.append(Data("h\r\n\ri\n".utf8))) == ["gh", "i"])
  }
}

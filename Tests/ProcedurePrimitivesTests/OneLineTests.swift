import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct OneLineTests {
  @Test("a text on one line has its line breaks and control characters escaped")
  func escapes() {
    let texts = [
      ("a\nb", "a\\nb"), ("a\r\nb", "a\\r\\nb"), ("\t", "\\t"), ("\0", "\\u{0}"),
      ("\u{1b}[31m", "\\u{1b}[31m"), ("\u{7f}\u{85}\u{9f}", "\\u{7f}\\u{85}\\u{9f}"),
      ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
      ("\u{202e}\u{2066}\u{61c}\u{200f}", "\\u{202e}\\u{2066}\\u{61c}\\u{200f}"),
    ]
    for (text, line) in texts {
      #expect(text.onOneLine == line)
      #expect(line.onOneLine == line)
    }
  }

  @Test("a text on one line keeps all that is visible")
  func keeps() {
    for text in ["", "load", "é", "e\u{301}", "…©∀", "👩‍👩‍👧‍👦🇩🇪", "\u{a0}\u{200d}", "\\n", "\"<&#"] {
      #expect(text.onOneLine.unicodeScalars.elementsEqual(text.unicodeScalars))
    }
  }

  @Test("a text on one line is found to be one by its bytes as by its scalars")
  func everyScalar() {
    for value in UInt32(0)...0x3000 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isControl =
        scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
        || value == 0x2028 || value == 0x2029
      let text = "a\(Character(scalar))b"
      #expect((text.onOneLine != text) == isControl, "\(String(value, radix: 16))")
    }
  }

  @Test("a label of a flowchart has no quote, entity or tag of the text's")
  func mermaid() {
    #expect("<a href=\"#\">&amp;\n".mermaidLabel == "#lt;a href=#quot;#35;#quot;#gt;#amp;amp;\\n")
  }
}

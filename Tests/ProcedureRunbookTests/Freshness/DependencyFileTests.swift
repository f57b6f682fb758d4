import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("What a compiler says it has read", .hangLimit)
struct DependencyFileTests {
  @Test(
    "names are what stands behind colons, each once, whatever lines and escapes",
    arguments: [
      ("main.o: main.c a.h\n", ["main.c", "a.h"]),
      ("main.o: main.c \\\n  a.h \\\n b.h", ["main.c", "a.h", "b.h"]),
      ("main.o: main.c \\\r\n  a.h\r\n", ["main.c", "a.h"]),
      ("main.o main.d: a.h\na.h:\n\nb.h:\n", ["a.h"]),
      ("x: my\\ file.h a\\#b $$c d\\\\e C:/f", ["my file.h", "a#b", "$c", "d\\e", "C:/f"]),
      ("x: a.h a.h\ny: a.h é.h\n", ["a.h", "é.h"]),
      ("o: in\\:1 a:b\n", ["in:1", "a:b"]), ("x:\n", []), ("", []),
      ("o:h1\no p:h2", ["h1", "h2"]), ("o:/h1 h2\n", ["/h1", "h2"]), ("o:: h1\n", ["h1"]),
      ("# c: d\no: h1 # c\n# env-dep:FOO=1\n", ["h1"]),
      ("o: h1 # c \\\n d\np: h2\n", ["h1", "h2"]),
      ("o: a\\\tb a#b\n", ["a\tb", "a#b"]), ("o: h1 | h2\n", ["h1", "h2"]),
      ("o:\\\n h1\n", ["h1"]),
      ("c:\\x: h1\n", ["h1"]), ("#", []),
      ("o: \u{FC} u\u{308}\n", ["\u{FC}", "u\u{308}"]),
    ] as [(String, [String])])
  func names(text: String, files: [String]) {
    #expect(DependencyFile.files(in: Array(text.utf8)) == files.map { FilePath($0) })
  }

  @Test("a name that is no text is read as its bytes")
  func bytes() {
    let name: [UInt8] = [0x61, 0xFF, 0x62]
    #expect(DependencyFile.files(in: Array("o: ".utf8) + name) == [FilePath(name)])
    #expect(FilePath(name).visible == #"a\xffb"#)
  }

  @Test(
    "a file without a colon is no dependency file",
    arguments: ["main.c a.h\n", "x: a\nno rule\n", "x"])
  func others(text: String) {
    #expect(DependencyFile.files(in: Array(text.utf8)) == nil)
  }
}

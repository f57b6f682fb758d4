import Foundation
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("Patterns of files", .hangLimit)
struct FilePatternTests {
  @Test(
    "an asterisk stands for any part of a name, two for any folders",
    arguments: [
      ("src/*.c", "src/a.c", true), ("src/*.c", "src/.c", false), ("src/*.c", "src/b/a.c", false),
      ("src/*.c", "src/a.cc", false), ("src/.*.c", "src/.a.c", true), ("*", ".hidden", false),
      ("src/**/*.c", "src/a.c", true), ("src/**/*.c", "src/b/c/a.c", true),
      ("src/**/*.c", "src/.git/a.c", false), ("**/a", "a", true), ("**", "a", true),
      ("d/**", "d/a/b", true),
      ("a*b*c", "abbc", true), ("a*b*c", "acb", false), ("*a*", "a", true),
      (#"a\*b"#, "a*b", true), (#"a\*b*"#, "a*bc", true), (#"a\*b*"#, "axbc", false),
      ("./src/*", "src/a", true), ("/src/*", "src/a", false), ("src/*/x", "src/b/x", true),
    ])
  func fits(pattern: String, path: String, isFitting: Bool) {
    #expect((FilePattern(pattern, in: nil).value(in: FilePath(path)) != nil) == isFitting)
  }

  @Test("a name in braces is the part that stands for it, the same wherever it stands")
  func names() {
    let pattern = FilePattern("raw/{s}/{s}-*.csv", in: "/data", naming: "s")
    #expect(pattern.value(in: FilePath("/data/raw/a/a-1.csv")) == "a")
    #expect(pattern.value(in: FilePath("/data/raw/a/b-1.csv")) == nil)
    #expect(pattern.folder == FilePath("/data/raw"))
    #expect(FilePattern("{s}{s}", in: nil, naming: "s").value(in: FilePath("abab")) == "ab")
    #expect(FilePattern("{s}.c", in: nil, naming: "s").value(in: FilePath(".c")) == nil)
  }

  @Test("files are found in the order of their bytes, and no link is followed by two asterisks")
  func files() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "FilePattern-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["b", "a/x", "a/y/z", ".h"] {
      let path = "\(folder.path)/\(name).c"
      let above = URL(filePath: path).deletingLastPathComponent().path
      #expect(Directory.make(above) == nil)
      #expect(OutputFile.write("", to: path) == nil)
    }
    #expect(unsafe symlink(folder.path, "\(folder.path)/a/circle") == 0)
    func found(_ text: String, naming name: String? = nil) -> [String] {
      let pattern = FilePattern(text, in: folder.path, naming: name)
      return pattern.matches().map {
        pattern.relative($0.path).visible + ($0.value.isEmpty ? "" : " " + $0.value)
      }
    }
    #expect(found("*.c") == ["b.c"])
    #expect(found("**/*.c") == ["a/x.c", "a/y/z.c", "b.c"])
    #expect(found("a/{n}.c", naming: "n") == ["a/x.c x"])
    #expect(found("{n}/y/z.c", naming: "n") == ["a/y/z.c a"])
    #expect(found("a/circle/*.c") == ["a/circle/b.c"])
    #expect(found("no/*.c").isEmpty)
  }

  @Test("a name that is no text is found, and two spellings of a letter are two names")
  func bytes() throws {
    #if os(Linux)
      let folder = FileManager.default.temporaryDirectory.appending(path: "FilePattern-\(UUID())")
      defer { try? FileManager.default.removeItem(at: folder) }
      #expect(Directory.make(folder.path) == nil)
      let names: [[UInt8]] = [Array("e\u{301}".utf8), Array("\u{E9}".utf8), [0xFF]]
      for name in names {
        let path = FilePath(folder.path).appending(name)
        let descriptor = unsafe path.withPointer {
          unsafe open($0, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        }
        try #require(descriptor >= 0)
        close(descriptor)
      }
      let found = FilePattern("*", in: folder.path).matches().map(\.path)
      #expect(found == names.map { FilePath(folder.path).appending($0) })
      #expect(found.last?.text == nil)
      #expect(FilePattern("e*", in: folder.path).matches().count == 1)
    #endif
  }

  @Test("a folder and two dots behind it are nothing, where steps make files")
  func shortest() {
    let pattern = FilePattern("../src/*.c", in: "/plan/sub")
    #expect(pattern.folder == FilePath("/plan/src"))
    #expect(pattern.value(in: FilePath("/plan/src/a.c")) != nil)
    #expect(pattern.value(in: FilePath("/plan/x/../src/a.c")) != nil)
    #expect(pattern.value(in: FilePath("/plan/sub/src/a.c")) == nil)
  }
}

import Foundation
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("What stands for several inputs", .hangLimit)
struct InputFilesTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "Inputs-\(UUID())")

  private func plan(_ text: String, files: [String] = []) throws -> Plan {
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in files + [".keep"] {
      let path = "\(folder.path)/\(name)"
      #expect(Directory.make(URL(filePath: path).deletingLastPathComponent().path) == nil)
      #expect(OutputFile.write("", to: path) == nil)
    }
    return try PlanFile.plan(from: Array(text.utf8), directory: folder.path)
  }

  private func problem(_ text: String, files: [String] = []) -> String {
    do {
      _ = try plan(text, files: files)
      return "none"
    } catch {
      return "\(error)".replacing(folder.path, with: "…")
    }
  }

  @Test("the outputs of steps and groups are inputs, and their makers come before")
  func outputsOf() throws {
    let plan = try plan(
      """
      [{"name": "link", "run": "x", "outputsOf": ["objects", "lib"], "inputs": "main.c", "outputs": "app"},
       {"name": "cc {n}", "each": {"n": ["a", "b"]}, "group": "objects", "run": "x", "outputs": "o/{n}.o"},
       {"name": "lib", "run": "x", "directory": "sub", "outputs": ["l.a", "../l.h"]}]
      """)
    #expect(plan.steps[0].inputs == ["main.c", "o/a.o", "o/b.o", "sub/l.a", "sub/../l.h"])
    #expect(plan.steps[0].after == ["objects", "lib"])
    #expect(plan.graph.order.last == "link")
    #expect(
      plan.steps[0].shell.suffix(6) == ["sh", "main.c", "o/a.o", "o/b.o", "sub/l.a", "sub/../l.h"])
  }

  @Test("an asterisk in a value of an each is a part of a name, and no pattern")
  func asteriskInValue() throws {
    let plan = try plan(
      """
      [{"name": "cc {s}", "each": {"s": "raw/{s}.c"}, "run": "x", "inputs": "raw/{s}.c", "outputs": "{s}.o"},
       {"name": "two {s}", "each": {"s": ["a", "*"]}, "run": "x", "inputs": ["raw/{s}.c", "raw/*.c"]}]
      """, files: ["raw/*.c", "raw/a.c"])
    #expect(
      plan.steps.map(\.inputs) == [
        ["raw/*.c"], ["raw/a.c"], ["raw/a.c", "raw/*.c"], ["raw/*.c", "raw/a.c"],
      ])
    #expect(plan.steps[0].outputs == ["*.o"])
  }

  @Test("from another directory they are named from the root")
  func otherDirectory() throws {
    let plan = try plan(
      """
      [{"name": "a", "run": "x", "outputs": "a.o"},
       {"name": "b", "run": "x", "directory": "sub", "outputsOf": "a", "outputs": "b"}]
      """)
    #expect(plan.steps[1].inputs == ["\(folder.path)/a.o"])
  }

  @Test("a pattern finds what is there and what steps make, and not what the step makes itself")
  func patterns() throws {
    let plan = try plan(
      """
      [{"name": "gen", "run": "x", "outputs": "src/gen.c"},
       {"name": "all", "run": "x", "inputs": ["src/*.c", "src/gen.c", "*"], "outputs": ["src/all.c", "all"]}]
      """, files: ["src/z.c", "src/all.c", "src/a.h", "all", "b"])
    #expect(plan.steps[1].inputs == ["src/gen.c", "src/z.c", "b", "src"])
    #expect(plan.steps[1].after == ["gen"])
  }

  @Test("each finds files that steps make, also those of another pattern")
  func eachOverMade() throws {
    let plan = try plan(
      """
      [{"name": "count {s}", "each": {"s": "sorted/{s}"}, "run": "x", "inputs": "sorted/{s}", "outputs": "{s}.count"},
       {"name": "sort {s}", "each": {"s": "raw/{s}.csv"}, "run": "x", "inputs": "raw/{s}.csv", "outputs": "sorted/{s}"},
       {"name": "more", "run": "x", "outputs": "raw/north.csv"}]
      """, files: ["raw/west.csv", "raw/east.csv"])
    #expect(
      plan.steps.map(\.name) == [
        "count east", "count north", "count west", "sort east", "sort north", "sort west", "more",
      ])
    #expect(plan.steps[1].after == ["sort north"] && plan.steps[4].after == ["more"])
  }

  @Test(
    "an input that cannot be known when the plan is read is refused",
    arguments: [
      (
        #"[{"name": "a", "run": "x", "outputsOf": "objcts", "outputs": "o"}, {"name": "b", "run": "x", "group": "objects"}]"#,
        "line 1: step 'a' has the outputs of 'objcts', which is neither a step nor a group; did you mean 'objects'?"
      ),
      (
        #"[{"name": "a", "run": "x", "outputsOf": "b", "outputs": "o"}, {"name": "b", "run": "x"}]"#,
        "line 1: step 'a' has the outputs of 'b', which has none"
      ),
      (
        #"[{"name": "a", "run": "x", "inputs": "*.none", "outputs": "o"}]"#,
        "line 1: 'inputs' of step 'a' finds no file '*.none', neither there nor in the 'outputs' of a step"
      ),
      (
        #"[{"name": "a", "run": "x", "inputs": "d/*.c", "outputs": "o"}, {"name": "b", "run": "x", "outputs": "d"}]"#,
        "line 1: the pattern 'd/*.c' of step 'a' is about files in 'd', which 'b' makes as a whole, so they are not known before that has run: name the files in its 'outputs', or the folder in 'inputs'"
      ),
      (
        #"[{"name": "a {n}", "each": {"n": "d/{n}.c"}, "run": "x"}, {"name": "b", "run": "x", "outputs": "d"}]"#,
        "line 1: the pattern 'd/{n}.c' of step 'a {n}' is about files in 'd', which 'b' makes as a whole, so they are not known before that has run: name the files in its 'outputs', or the folder in 'inputs'"
      ),
      (
        #"[{"name": "a {n}", "each": {"n": "d/{n}.c"}, "run": "x", "outputs": "d/{n}.x.c"}]"#,
        "line 1: the pattern 'd/{n}.c' of step 'a {n}' finds what the step itself makes: 'd/1.x.c'"
      ),
      (
        #"[{"name": "a {n}", "each": {"n": "d/{n}.*"}, "run": "x"}]"#,
        #"line 1: 'each' of step 'a {n}' has an asterisk in 'd/{n}.*': only '{n}' is open; an asterisk in the name of a file is '\*'"#
      ),
      (
        #"[{"name": "a {n}", "each": {"n": "d/{n}.c"}, "run": "x", "outputs": "d/{n}.h"}, {"name": "b {n}", "each": {"n": "d/{n}.h"}, "run": "x", "outputs": "d/{n}x.c"}]"#,
        "line 1: steps make files without end for the patterns 'd/{n}.c', 'd/{n}.h'"
      ),
    ])
  func refused(text: String, sentence: String) {
    #expect(problem(text, files: ["d/1.c"]) == sentence)
  }

  @Test("a file in another folder has one name, before it is made as after that")
  func otherFolder() throws {
    let text = """
      [{"name": "gen", "run": "x", "outputs": "src/gen.c"},
       {"name": "all", "run": "x", "directory": "sub", "inputs": "../src/*.c", "outputs": "all"}]
      """
    let before = try plan(text, files: ["src/a.c", "sub/x"])
    let after = try plan(text, files: ["src/a.c", "sub/x", "src/gen.c"])
    #expect(before.steps[1].inputs == ["\(folder.path)/src/gen.c", "../src/a.c"])
    #expect(before.steps[1].after == ["gen"])
    #expect(after.steps[1].inputs == before.steps[1].inputs)
  }

  @Test("each finds what is made in another folder, and not in one whose name begins as that")
  func eachOverOtherFolder() throws {
    let text = """
      [{"name": "gen", "run": "x", "outputs": ["src/gen.c", "srcs/no.c"]},
       {"name": "cc {n}", "run": "x", "each": {"n": "sub/../src/{n}.c"}}]
      """
    for files in [[], ["src/gen.c"]] {
      let plan = try plan(text, files: ["src/a.c", "sub/x"] + files)
      #expect(plan.steps.map(\.name) == ["gen", "cc a", "cc gen"])
    }
    let whole = text.replacing(#"["src/gen.c", "srcs/no.c"]"#, with: #""src""#)
    #expect(problem(whole, files: ["sub/x"]).contains("which 'gen' makes as a whole"))
  }

  @Test("two spellings of one letter are two files, and a name that is no text is refused by name")
  func bytes() throws {
    #if os(Linux)
      let plan = try plan(
        #"[{"name": "all", "run": "x", "inputs": "*.c", "outputs": "o"}]"#,
        files: ["\u{E9}.c", "e\u{301}.c"])
      let names = ["e\u{301}.c", "\u{E9}.c"]
      #expect(plan.steps[0].inputs.map { FilePath($0) } == names.map { FilePath($0) })
      let each = try self.plan(
        #"[{"name": "cc {n}", "each": {"n": "{n}.c"}, "run": "x", "inputs": "{n}.c", "outputs": "{n}.o"}]"#,
        files: ["\u{E9}.c", "e\u{301}.c"])
      #expect(each.steps.map(\.name) == ["cc e\u{301}", "cc \u{E9}"])
      let sentence =
        #"line 1: the pattern 'd/*' finds the file 'd/\xff', whose name is not UTF-8: a plan cannot say it"#
      let sentenceOfEach = sentence.replacing("*", with: "{n}")
      let file = FilePath(folder.path).appending("d".utf8).appending([0xFF])
      for (text, sentence) in [
        (#"[{"name": "a", "run": "x", "inputs": "d/*", "outputs": "o"}]"#, sentence),
        (#"[{"name": "a {n}", "each": {"n": "d/{n}"}, "run": "x"}]"#, sentenceOfEach),
      ] {
        #expect(Directory.make("\(folder.path)/d") == nil)
        let descriptor = unsafe file.withPointer { unsafe open($0, O_CREAT | O_WRONLY, 0o600) }
        try #require(descriptor >= 0)
        close(descriptor)
        #expect(problem(text) == sentence)
      }
    #endif
  }

  @Test("an asterisk in a name is written with a backslash")
  func asterisk() throws {
    let plan = try plan(#"[{"name": "a", "run": "x", "inputs": "a\\*b", "outputs": "o"}]"#)
    #expect(plan.steps[0].inputs == ["a*b"])
  }

  @Test("a mark is a letter of its own for files, also behind a slash, an asterisk or a brace")
  func marks() throws {
    let mark = "\u{301}"
    let plan = try plan(
      #"[{"name": "{n}M", "each": {"n": ["1"]}, "run": "x", "inputs": ["d/M*", "a\\*M"], "outputs": "{n}Mo"}]"#
        .replacing("M", with: mark), files: ["d/\(mark)x", "d/x"])
    #expect(plan.steps[0].name == "1\(mark)")
    #expect(plan.steps[0].inputs == ["d/\(mark)x", "a*\(mark)"])
    #expect(plan.steps[0].outputs == ["1\(mark)o"])
    let each = try self.plan(
      #"[{"name": "{n}", "each": {"n": "d/{n}M.c"}, "run": "x"}]"#.replacing("M", with: mark),
      files: ["d/x\(mark).c"])
    #expect(each.steps.map(\.name) == ["x"])
  }

  @Test("a value is put in as it is, also with braces in it")
  func braces() throws {
    let plan = try plan(
      #"[{"name": "{a} {b} ${a}", "each": {"a": ["{b}", "x"], "b": ["{a}"]}, "run": "x"}]"#)
    #expect(plan.steps.map(\.name) == ["{b} {a} ${a}", "x {a} ${a}"])
  }

  @Test("more names than a command can be given are refused, and so is a word of 128 KB")
  func sizes() {
    let names = (0..<9_000).map { "\"\($0)\(String(repeating: "x", count: 120))\"" }.joined(
      separator: ",")
    #expect(
      problem("[{\"name\": \"a\", \"run\": \"x\", \"inputs\": [\(names)], \"outputs\": \"o\"}]")
        .contains("more than the 1 MB that a command can be given: name their folder"))
    let long = String(repeating: "x", count: 128 << 10)
    for key in ["run", "onlyIf", "unless"] {
      let run = key == "run" ? "" : #""run": "x", "#
      #expect(
        problem("[{\"name\": \"a\", \(run)\"\(key)\": \"\(long)\"}]")
          == "line 1: '\(key)' of step 'a' has 131072 bytes, more than the 128 KB that a program can be given in one piece: put it into a file"
      )
    }
    #expect(
      problem("[{\"name\": \"a\", \"run\": \"x\", \"environment\": {\"V\": \"\(long)\"}}]")
        .contains("'V' of step 'a' has 131072 bytes"))
  }

  @Test("--check says what stays as it is")
  func notes() throws {
    let plan = try plan(
      """
      [{"name": "a {s}", "each": {"s": ["1", "2"]}, "run": "cat {s} ${s} {other}", "outputs": "{s}", "group": "{sx}",
        "environment": {"F": "{s}.csv"}, "onlyIf": "test {F}"},
       {"name": "b", "run": "awk '{print}'", "outputs": "*.o"},
       {"name": "c {part}", "each": {"part": ["1"]}, "run": "wc {prat} {input} {s}"}]
      """)
    #expect(
      plan.counts.split(separator: "\n") == [
        "note: line 1: '{s}' in 'run' of step 'a 1' stays as it is: write \"$s\", a variable of the command",
        "note: line 1: '{F}' in 'onlyIf' of step 'a 1' stays as it is: write \"$F\", a variable of the command",
        "note: line 1: '{s}' in the variable 'F' of step 'a 1' stays as it is: use \"$s\" in the command",
        "note: line 1: '{sx}' in 'group' of step 'a 1' stays as it is: 'each' has no such name",
        "note: line 3: the asterisk in 'outputs' of step 'b' stands for itself: name each file, or the folder that holds them",
        "note: line 4: '{prat}' in 'run' of step 'c 1' stays as it is: did you mean \"$part\"?",
        "note: line 4: '{input}' in 'run' of step 'c 1' stays as it is: the inputs are \"$@\"",
        "note: line 4: '{s}' in 'run' of step 'c 1' stays as it is: 'each' of this step has no such name",
        "the plan can be run: 4 steps, 1 group",
      ])
  }
}

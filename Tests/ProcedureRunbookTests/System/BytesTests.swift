import Foundation
import ProceduresProcess
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

/// With a mark behind it a letter is another one for a reader, and not for shells and file systems.
@Suite("Letters with marks", .hangLimit)
struct BytesTests {
  private let mark = "\u{301}"
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  @Test("a quote in a word of a shell ends it, and a percent sign is doubled")
  func words() {
    #expect(FilePath("a'\(mark)b".shellWord) == FilePath("'a'\\''\(mark)b'"))
    #expect(FilePath("%\(mark)%".replacing(scalar: "%", with: "%%")) == FilePath("%%\(mark)%%"))
  }

  @Test("lines are cut at each kind of line end, and begin with any letter")
  func lines() {
    #expect("a\nb\r\n\r\nc\rd\n\(mark)e\n".filledLines == ["a", "b", "c", "d", "\(mark)e"])
  }

  @Test("folders are made, found and left by the slashes in their names")
  func folders() throws {
    let path = "\(runbook.directory.path)/new/\(mark)x/\(mark)y"
    #expect(Directory.make(path) == nil)
    #expect((try? FileStatus(path))?.kind == .folder)
    #expect(Directory.path("/\(mark)x", in: "d") == "/\(mark)x")
    let plan = "\(runbook.directory.path)/new/\(mark).json"
    #expect(OutputFile.write("[]", to: plan) == nil)
    #expect(
      InputFile(plan).folder == FilePath("\(runbook.directory.path)/new").resolved)
    let above = "\(runbook.directory.path)/new/runbook.json"
    #expect(OutputFile.write("[]", to: above) == nil)
    #expect(PlanSource.nearestPlan(from: FilePath(path)) == above)
  }

  @Test("values begin behind an equals sign")
  func values() throws {
    #expect(try Options(["a=\(mark)"]).parameters == ["a": mark])
    #expect(try Options(["--directory=\(mark)x"]).directory == "\(mark)x")
    let file = Array("A=\(mark)\nB='\(mark)x' # y\n#\(mark)\n".utf8)
    #expect(try DotenvFile(file).variables == ["A": mark, "B": "\(mark)x"])
  }

  @Test("a report is XML")
  func report() async throws {
    let execution = try await runbook.run(
      plan: #"[{"name": "a<M&M", "run": "true"}]"#.replacing("M", with: mark), "--junit", "j.xml")
    #expect(execution.exit == .status(0), "\(execution.output)")
    #expect(runbook.text("j.xml")?.utf8.contains("a&lt;\(mark)&amp;\(mark)".utf8) == true)
  }
}

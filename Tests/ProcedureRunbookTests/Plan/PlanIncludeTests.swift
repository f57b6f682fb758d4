import Foundation
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("A plan of several files", .hangLimit)
final class PlanIncludeTests {
  private let directory = FileManager.default.temporaryDirectory.appending(
    path: "PlanIncludeTests-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(
      at: directory.appending(path: "lib"), withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  private func write(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: directory.appending(path: name))
  }

  private func read(_ parameters: [String: String] = [:]) throws(PlanError) -> Plan {
    try PlanFile.plan(
      atPath: directory.appending(path: "plan.json").path, parameters: parameters)
  }

  @Test(
    "steps of an included file are seen from there, with its defaults; what includes it decides")
  func include() throws {
    try write(
      "plan.json",
      """
      {"include": ["lib/tools.json", "lib/more.json"], "parameters": {"level": "9"}, "pools": {"net": 1},
       "secrets": ["TOKEN"], "defaults": {"timeout": 1},
       "steps": [{"name": "a", "run": "x", "after": "tool"}]}
      """)
    try write(
      "lib/tools.json",
      """
      {"include": "more.json", "parameters": {"level": "1", "mode": "fast"}, "pools": {"net": 4, "disk": 2},
       "secrets": ["TOKEN", "KEY"], "defaults": {"retries": 2},
       "steps": [{"name": "tool", "run": "x", "pool": ["net", "disk"], "directory": "sub"}]}
      """)
    try write("lib/more.json", #"[{"name": "more", "run": "x"}]"#)
    let plan = try read(["mode": "slow"])
    #expect(plan.steps.map(\.name) == ["more", "tool", "a"])
    let lib = try #require(InputFile(directory.appending(path: "lib/more.json").path).folder?.text)
    #expect(plan.steps[0].directory == lib && plan.steps[1].directory == lib + "/sub")
    #expect(plan.steps.map(\.timeout) == [nil, nil, .seconds(1)])
    #expect(plan.steps.map(\.retries) == [0, 2, 0])
    #expect(plan.steps.allSatisfy { $0.environment == ["level": "9", "mode": "slow"] })
    #expect(plan.pools == ["net": 1, "disk": 2] && plan.secrets == ["TOKEN", "KEY"])
  }

  @Test("a file that two others include is there once")
  func includedTwice() throws {
    let include =
      #"{"include": ["lib/b.json", "lib/c.json"], "steps": [{"name": "a", "run": "x"}]}"#
    try write("plan.json", include)
    try write("lib/b.json", #"{"include": "c.json", "steps": [{"name": "b", "run": "x"}]}"#)
    try write("lib/c.json", #"[{"name": "c", "run": "x"}]"#)
    #expect(try read().steps.map(\.name) == ["c", "b", "a"])
  }

  @Test("plans that include each other are refused, with the way from one to itself")
  func circle() throws {
    func expectError(_ file: String?, _ sentence: String) {
      let error = #expect(throws: PlanError.self) { try self.read() }
      #expect(error?.description == sentence)
      #expect(file.map { error?.file?.hasSuffix($0) == true } ?? (error?.file == nil))
    }
    let steps = #""steps": [{"name": "a", "run": "x"}]}"#
    try write("plan.json", "{\n\"include\": \"lib/../plan.json\", \(steps)")
    expectError(nil, "line 2: a plan includes itself: plan.json → plan.json")
    try write("plan.json", "{\"include\": \"lib/b.json\", \(steps)")
    try write("lib/b.json", #"{"include": "../plan.json"}"#)
    expectError(
      "/lib/b.json", "line 1: these plans include each other: plan.json → lib/b.json → plan.json")
    try write("lib/b.json", #"{"include": "c.json"}"#)
    try write("lib/c.json", "{\n\"include\": \"../lib/b.json\"}")
    expectError(
      "/lib/c.json", "line 2: these plans include each other: lib/b.json → lib/c.json → lib/b.json")
  }

  @Test("a mistake in an included file names that file and the line in it")
  func mistakes() throws {
    try write("plan.json", #"{"include": "lib/b.json", "steps": [{"name": "a", "run": "x"}]}"#)
    try write("lib/b.json", "{\"steps\": [\n{\"name\": \"b\", \"rum\": \"x\"}]}")
    var error = #expect(throws: PlanError.self) { try self.read() }
    #expect(error?.file?.hasSuffix("/lib/b.json") == true && error?.line == 2)
    try write("lib/b.json", "[\n{\"name\": \"b\", \"run\": \"x\", \"after\": \"z\"}]")
    error = #expect(throws: PlanError.self) { try self.read() }
    #expect(error?.file?.hasSuffix("/lib/b.json") == true)
    #expect(
      error?.description == "line 2: step 'b' is after 'z', which is neither a step nor a group")
    try write("lib/b.json", #"{"include": "none.json"}"#)
    error = #expect(throws: PlanError.self) { try self.read() }
    #expect(error?.file?.hasSuffix("/lib/b.json") == true)
    #expect(error?.description.hasSuffix("lib/none.json'") == true)
  }

  @Test("variables from a file are those of a step, unless they are set already, or beside it")
  func dotenv() throws {
    try write(
      "plan.json",
      """
      {"defaults": {"dotenv": ".env", "environment": {"B": "plan"}},
       "steps": [{"name": "a", "run": "x"}, {"name": "b", "run": "x", "dotenv": "b.env", "directory": "/"}]}
      """)
    try write(".env", "A=file\nB=file\nHOME=file\n")
    try write("b.env", "C=more\nB=step\n")
    let steps = try read().steps
    // What is set already is a variable of the step with that value, so that another value makes it
    // run.
    let home = ProcessInfo.processInfo.environment["HOME"] ?? "file"
    #expect(steps[0].environment == ["A": "file", "B": "plan", "HOME": home])
    #expect(steps[1].environment == ["A": "file", "B": "step", "C": "more", "HOME": home])
    try write(".env", "A=file\nB\n")
    let error = #expect(throws: PlanError.self) { try self.read() }
    #expect(error?.description == "line 1: line 2 of '.env' is not 'NAME=value', nor a comment")
    try write(".env", "A=file\n")
    for maker in [".env", "."] {
      try write(
        "plan.json",
        """
        [{"name": "conf", "run": "echo A=1 > .env", "outputs": "\(maker)"},
         {"name": "s", "after": "conf", "run": "x", "dotenv": ".env"}]
        """)
      let error = #expect(throws: PlanError.self) { try self.read() }
      guard case .dotenvIsMade(_, "s", maker: "conf")? = error?.problem else {
        Issue.record("\(maker): \(String(describing: error))")
        continue
      }
    }
  }
}

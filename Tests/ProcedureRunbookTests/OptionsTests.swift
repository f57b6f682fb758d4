import Testing

@testable import ProcedureRunbook

@Suite("The command line")
struct OptionsTests {
  @Test("all options, long and short, with the value apart or after '='")
  func everything() throws {
    let long = try Options([
      "--jobs", "3", "--timeout=2.5", "--grace=7", "--keep-going", "--dry-run", "--graph",
      "--quiet", "--help",
      "plan.json",
    ])
    let short = try Options([
      "plan.json", "-j", "3", "-k", "-n", "--graph", "-q", "-h", "--timeout", "2.5", "--grace", "7",
    ])
    #expect(long == short)
    #expect(long.jobs == 3)
    #expect(long.timeout == .seconds(2.5))
    #expect(long.gracePeriod == .seconds(7))
    #expect(long.planPath == "plan.json")
    #expect(try Options(["--", "--graph"]).planPath == "--graph")
    #expect(try Options([]).planPath == nil)
    #expect(try Options([]).jobs >= 1)
  }

  @Test(
    "nonsense is one sentence",
    arguments: [
      ["--jobs", "0"], ["--jobs", "x"], ["--jobs"], ["--jobs="], ["--timeout", "-1"],
      ["--grace", "0"],
      ["--timeout", "nan"], ["--timeout", "inf"], ["--what"], ["-x"], ["--quiet=1"], ["a", "b"],
    ])
  func nonsense(arguments: [String]) {
    let error = #expect(throws: UsageError.self) { try Options(arguments) }
    #expect(error?.description.isEmpty == false)
  }
}

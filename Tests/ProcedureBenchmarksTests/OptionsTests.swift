import Testing

@testable import ProcedureBenchmarks

@Suite("The command line")
struct OptionsTests {
  @Test("all options, with the value apart or after '='")
  func everything() throws {
    let apart = try Options([
      "no-op", "--json", "a", "--compare", "b", "--plot", "c", "--commit", "d", "--rounds", "5",
      "--markdown", "--list", "--help",
    ])
    let joined = try Options([
      "--markdown", "--list", "-h", "--rounds=5", "--commit=d", "--plot=c", "--compare=b",
      "--json=a", "no-op",
    ])
    #expect(apart == joined)
    #expect(apart.filter == "no-op" && apart.rounds == 5 && apart.commit == "d")
    #expect(apart.jsonPath == "a" && apart.comparePath == "b" && apart.plotPath == "c")
    #expect(apart.isMarkdown && apart.isList && apart.isHelp)
    #expect(try Options(["--quick"]).divisor == 10)
    #expect(try Options([]).divisor == 1)
  }

  @Test(
    "nonsense is one sentence that names the option",
    arguments: [
      ["--json"], ["--json="], ["--json", "--markdown"], ["--rounds", "0"], ["--rounds", "many"],
      ["--quick=1"], ["--what"], ["--list", "--list"], ["--quick", "--rounds", "3"],
    ])
  func nonsense(arguments: [String]) throws {
    let error = #expect(throws: UsageError.self) { try Options(arguments) }
    let option = try #require(arguments[0].split(separator: "=").first)
    #expect(error?.description.contains("'\(option)'") == true)
  }

  @Test("two filters are one too many, and both are named")
  func filters() {
    let error = #expect(throws: UsageError.self) { try Options(["no-op", "batch"]) }
    #expect(error?.description.contains("'no-op' or 'batch'") == true)
  }

  @Test("the help names each option")
  func help() {
    for option in [
      "--list", "--markdown", "--json FILE", "--compare FILE", "--plot FILE", "--rounds N",
      "--quick", "--commit NAME", "--help",
    ] {
      #expect(Help.text.contains(option), "\(option)")
    }
  }
}

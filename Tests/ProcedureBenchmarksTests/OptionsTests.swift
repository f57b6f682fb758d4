import ProcedureTestSupport
import Testing

@testable import ProcedureBenchmarks

@Suite("The command line", .hangLimit)
struct OptionsTests {
  @Test("all options are read, in any order")
  func everything() throws {
    let options = try Options(["--rounds", "5", "no-op", "--markdown", "--list", "--help"])
    #expect(options.filter == "no-op" && options.rounds == 5 && options.format == .markdown)
    #expect(options.isList && options.isHelp && options.divisor == 1)
    #expect(try Options(["no-op", "-h", "--list", "--rounds=5", "--markdown"]) == options)
    #expect(try Options(["--quick"]).divisor == 10)
    #expect(try Options(["--json"]).format == .json)
  }

  @Test(
    "nonsense is one sentence that names the option",
    arguments: [
      ["--rounds"], ["--rounds="], ["--rounds", "0"], ["--rounds", "many"], ["--quick=1"],
      ["--what"], ["-x"],
    ])
  func nonsense(arguments: [String]) throws {
    let error = #expect(throws: UsageError.self) { try Options(arguments) }
    let option = try #require(arguments[0].split(separator: "=").first)
    #expect(error?.description.contains("'\(option)") == true)
  }

  @Test("two filters are one too many, and both are named")
  func filters() {
    let error = #expect(throws: UsageError.self) { try Options(["no-op", "batch"]) }
    #expect(error?.description.contains("'no-op' or 'batch'") == true)
  }

  @Test("the help names each option")
  func help() {
    for option in ["--list", "--rounds N", "--quick", "--markdown", "--json", "-h, --help"] {
      #expect(Options.help.contains("  \(option)  "), "\(option)")
    }
  }
}

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

  @Test("the numbers of threads are sorted, and --scale has fewer rounds")
  func scale() throws {
    let options = try Options(["--scale", "--threads", "8,1,8,2", "--only", "queue"])
    #expect(options.isScale && options.threads == [1, 2, 8] && options.filter == "queue")
    #expect(options.rounds == 5)
    #expect(try Options(["--threads=8,1,2", "queue", "--scale"]) == options)
    #expect(try Options(["--scale"]).threads == [1, 2, 4, 8, 16])
    #expect(try Options(["--scale", "--rounds", "7"]).rounds == 7)
    #expect(try !Options([]).isScale && Options([]).rounds == 15)
  }

  @Test(
    "nonsense is one sentence that names the option",
    arguments: [
      ["--rounds"], ["--rounds="], ["--rounds", "0"], ["--rounds", "many"], ["--quick=1"],
      ["--what"], ["-x"], ["--scale=2"], ["--threads", "2"], ["--threads"],
      ["--threads=", "--scale"], ["--threads", "1,,2", "--scale"], ["--threads", "0", "--scale"],
      ["--threads", "many", "--scale"], ["--threads", "1025", "--scale"], ["--only"], ["--only="],
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
    let other = #expect(throws: UsageError.self) { try Options(["no-op", "--only", "batch"]) }
    #expect(other?.description.contains("'no-op' or 'batch'") == true)
  }

  @Test("the help names each option")
  func help() {
    for option in ["--scale", "--threads N", "--only NAME"] {
      #expect(Options.help.contains("  \(option)  "), "\(option)")
    }
    for option in ["--list", "--rounds N", "--quick", "--markdown", "--json", "-h, --help"] {
      #expect(Options.help.contains("  \(option)  "), "\(option)")
    }
  }
}

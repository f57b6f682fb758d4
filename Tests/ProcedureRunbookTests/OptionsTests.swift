import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("The command line", .hangLimit)
struct OptionsTests {
  @Test("all options are read, long and short, joined or not, with the value apart or in the word")
  func everything() throws {
    let long = try Options([
      "--jobs", "3", "--timeout=2.5", "--grace=7", "--keep-going", "--quiet", "--group-output",
      "--directory", "d", "--file=plan.json", "--dry-run", "step",
    ])
    #expect(
      try Options([
        "step", "-j", "3", "-kqg", "--timeout", "2.5", "-C", "d", "-f", "plan.json", "--grace", "7",
        "-n",
      ]) == long)
    #expect(
      try Options(["-kqgj3", "-Cd", "-n", "--timeout=2.5", "step", "-fplan.json", "--grace=7"])
        == long)
    #expect(long.jobs == 3)
    #expect(long.timeout == .seconds(2.5))
    #expect(long.gracePeriod == .seconds(7))
    #expect(long.planPath == "plan.json" && long.words == ["step"] && long.directory == "d")
    #expect(long.isQuiet && long.groupsOutput && long.task == .dryRun)
    #expect(try Options(["--", "--graph"]).words == ["--graph"])
    #expect(try Options(["-"]).words == ["-"])
    #expect(try Options([]).words == [] && Options([]).jobs == nil)
  }

  @Test("each option says what a run writes, and how")
  func rest() throws {
    let options = try Options([
      "--logs", "l", "--report", "r", "--junit", "u", "--launcher", "srun -n1",
      "--trace", "t", "--html", "h", "--summary",
    ])
    #expect(options.logDirectory == "l" && options.reportPath == "r" && options.junitPath == "u")
    #expect(options.launcher == "srun -n1")
    #expect(options.tracePath == "t" && options.pagePath == "h" && options.showsSummary)
    #expect(options.wantsTimeline)
    let fresh = try Options(["--force", "--explain", "--wait"])
    #expect(fresh.isForced && fresh.explains && fresh.waits)
    #expect(try Options(["--memory", "2G"]).memory == 2 << 30)
    let cluster = try Options(["--executor=slurm", "--queued", "7", "--poll", "2"])
    #expect(cluster.executor == "slurm" && cluster.queued == 7)
    #expect(cluster.pollInterval == .seconds(2))
    #expect(try Options(["--check"]).task == .check)
    #expect(try Options(["--prune"]).task == .prune)
    #expect(try Options(["--prune", "-n"]).task == .prunePreview)
    #expect(try Options(["-n", "--prune"]).task == .prunePreview)
    #expect(throws: UsageError.self) { try Options(["--content"]) }
    #expect(try !Options([]).wantsTimeline)
    #expect(try Options(["--list"]).task == .list && Options(["-l"]).task == .list)
    #expect(try Options(["--graph"]).task == .graph && Options(["-h"]).task == .help)
    #expect(try Options(["--version"]).task == .version && Options(["--demo"]).isDemo)
  }

  @Test("--keep-going may have a number, in the same word")
  func keepGoing() throws {
    #expect(try Options([]).failureLimit == 1)
    #expect(try Options(["-k"]).failureLimit == nil)
    #expect(try Options(["--keep-going=3"]).failureLimit == 3)
    #expect(try Options(["-qk3"]).failureLimit == 3)
    #expect(try Options(["-k", "3"]).words == ["3"])
  }

  @Test("a word with an equals sign behind a name is a parameter; a path is none")
  func parameters() throws {
    let options = try Options(["a=b=c", "_x1=", "step", "./a=b", "1a=b", "=b", "é=1", "a-b=c"])
    #expect(options.parameters == ["a": "b=c", "_x1": ""])
    #expect(options.words == ["step", "./a=b", "1a=b", "=b", "é=1", "a-b=c"])
  }

  @Test(
    "nonsense is one sentence",
    arguments: [
      ["--jobs", "0"], ["--jobs", "x"], ["--jobs"], ["--jobs="], ["--timeout", "-1"],
      ["--grace", "0"],
      ["--timeout", "nan"], ["--timeout", "inf"], ["--what"], ["-x"], ["--quiet=1"], ["-qx"],
      ["--keep-going=0"], ["-j2x"], ["--memory", "2"], ["--memory=all"], ["--executor", "pbs"],
      ["--queued", "0"], ["--poll", "0"],
      ["--executor", "slurm", "--launcher", "nice"], ["--logs"],
      ["--demo", "a"], ["--demo", "-f", "a"],
    ])
  func nonsense(arguments: [String]) {
    let error = #expect(throws: UsageError.self) { try Options(arguments) }
    #expect(error?.description.isEmpty == false)
  }
}

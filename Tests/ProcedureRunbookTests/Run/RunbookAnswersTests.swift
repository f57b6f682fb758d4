import Foundation
import ProceduresProcess
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("runbook, answers", .hangLimit)
struct RunbookAnswersTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  @Test(
    "a check whose command is not found is a failure, and no answer",
    arguments: ["onlyIf", "unless"], ["no-such-command", "./plan.json"])
  func unknownCommand(key: String, command: String) async throws {
    let execution = try await runbook.run(
      plan: #"[{"name": "a", "run": "touch ran", "\#(key)": "\#(command)"}]"#)
    #expect(execution.exit == .status(1))
    #expect(execution.output.contains(/failed     a: '\w+' exited with status 12[67], as when/))
    #expect(!runbook.hasFile("ran"))
  }

  /// Until the program in the background is `sleep`, and not the copy of the shell that it begins
  /// as.
  private static let isThere = "until grep -qa ^sleep /proc/$!/cmdline; do :; done"

  @Test("a process that a step leaves in the background is stopped, and named, also in a quiet run")
  func background() async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "start", "run": "sleep 987 & \(Self.isThere); echo $! > pid"},
         {"name": "use", "run": "true", "after": "start"}]
        """, "-q")
    #expect(execution.exit == .status(0))
    let process = try #require(runbook.text("pid")).split(separator: "\n")[0]
    #expect(
      execution.output.contains(
        "start | stopped with it what it left in the background: sleep 987 (process \(process));"
      ))
    #expect(
      try await !runbook.run(plan: #"[{"name": "a", "run": "true | true"}]"#).output.contains(
        "left"))
  }

  @Test("a process that a check leaves in the background is stopped, and named")
  func backgroundOfCheck() async throws {
    let execution = try await runbook.run(
      plan: #"[{"name": "a", "run": "true", "onlyIf": "sleep 986 & \#(Self.isThere); true"}]"#)
    #expect(
      execution.output.contains("a | stopped with it what it left in the background: sleep 986"))
  }

  @Test("-v prints commands as they run, for each attempt, which knows its number")
  func verbose() async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "a", "run": "echo try $RUNBOOK_ATTEMPT\\ntest $RUNBOOK_ATTEMPT = 3", "retries": 5}]
        """, "-v")
    #expect(execution.exit == .status(0))
    let lines = execution.lines.filter { $0.hasPrefix("a |") }
    let commands = ["a | $ echo try $RUNBOOK_ATTEMPT", "a | $ test $RUNBOOK_ATTEMPT = 3"]
    #expect(
      lines == commands + ["a | try 1"] + commands + ["a | try 2"] + commands + ["a | try 3"])
  }

  @Test("memory may be another in each attempt, and each waits for its own")
  func memory() async throws {
    let plan = try PlanFile.plan(
      from: Array(#"[{"name": "a", "run": "x", "retries": 4, "memory": ["1G", "2G"]}]"#.utf8))
    #expect(
      (1...4).map { plan.steps[0].memory(inAttempt: $0) } == [1 << 30, 2 << 30, 2 << 30, 2 << 30])
    #expect(plan.names == "a  (memory 1G, then 2G) x")
    // The second attempt needs all of it, and so runs alone.
    let execution = try await runbook.run(
      plan: """
        [{"name": "a", "run": "test -e first || { touch first; exit 1; }; mkdir alone && rmdir alone",
          "retries": 1, "memory": ["1G", "4G"]},
         {"name": "b", "run": "mkdir alone && rmdir alone", "memory": "3G"}]
        """, "-j4", "--memory=4G")
    #expect(execution.exit == .status(0), "\(execution.output)")
  }

  @Test("colours are in a pipe if they are asked for, and never if not")
  func colours() async throws {
    let plan = #"[{"name": "a", "run": "true"}]"#
    let forced = ["CLICOLOR_FORCE": "1"]
    for (option, environment, isColoured) in [
      ("--color=always", [:], true), ("--color=auto", [:], false), ("--color=auto", forced, true),
      ("--color=never", forced, false),
      ("--color=auto", forced.merging(["NO_COLOR": "1"]) { $1 }, false),
    ] {
      let execution = try await runbook.shell(
        plan: plan, "exec $RUNBOOK \(option) plan.json",
        environment: ["NO_COLOR": "", "CLICOLOR_FORCE": ""].merging(environment) { $1 })
      #expect(execution.output.contains("\u{1B}[32m") == isColoured, "\(option) \(environment)")
    }
  }

  @Test("inputs are the arguments of the command, whatever their names are")
  func arguments() async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "make {n}", "each": {"n": ["a b", "$x'"]}, "group": "parts", "run": "echo \\"$n\\" > \\"$n\\"",
          "outputs": "{n}"},
         {"name": "all", "outputsOf": "parts", "run": "cat \\"$@\\" > all; echo $# >> all", "outputs": "all"}]
        """)
    #expect(execution.exit == .status(0), "\(execution.output)")
    #expect(runbook.text("all") == "a b\n$x'\n2\n")
  }

  @Test("files that a step makes and the plan does not name are not left out in silence")
  func undeclared() async throws {
    let plan = """
      [{"name": "split", "run": "touch parts/1.txt parts/2.txt", "outputs": "parts/done"},
       {"name": "c {s}", "each": {"s": "parts/{s}.txt"}, "after": "split", "run": "echo $s >> seen"},
       {"name": "late", "run": "true"}]
      """.replacing("parts/2.txt", with: "parts/2.txt parts/done")
    try FileManager.default.createDirectory(
      at: runbook.directory.appending(path: "parts"), withIntermediateDirectories: true)
    #expect(OutputFile.write("", to: runbook.directory.path + "/parts/old.txt") == nil)
    let first = try await runbook.run(plan: plan)
    #expect(first.exit == .status(1))
    #expect(
      first.output.contains(
        "'each' of 'c {s}', 'parts/{s}.txt', now finds 'parts/1.txt' and 1 more, not there when the plan was read: run the plan again"
      ), "\(first.output)")
    #expect(!runbook.hasFile("seen"))
    let second = try await runbook.run(plan: plan)
    #expect(second.exit == .status(0), "\(second.output)")
    #expect(runbook.text("seen")?.split(separator: "\n").sorted() == ["1", "2", "old"])
  }

  @Test("files whose names are not UTF-8 are not left out in silence either")
  func undeclaredBytes() async throws {
    #if os(Linux)
      let execution = try await runbook.shell(
        plan: #"""
          [{"name": "split", "run": "touch \"parts/$(printf '\\377').txt\" done", "outputs": "done"},
           {"name": "all", "inputs": "parts/*", "after": "split", "run": "touch never"}]
          """#,
        "mkdir parts; touch parts/old.txt; exec $RUNBOOK plan.json")
      #expect(execution.exit == .status(1))
      #expect(
        execution.output.contains(
          #"'inputs' of 'all', 'parts/*', now finds 'parts/\xff.txt', not there when the plan"#),
        "\(execution.output)")
      #expect(!runbook.hasFile("never"))
    #endif
  }

  @Test("a pattern does not find what a step has made that is gone, unless somebody has changed it")
  func madeBefore() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "sort {s}", "each": {"s": "raw/{s}.csv"}, "inputs": "raw/{s}.csv", "outputs": "work/{s}",
          "run": "sort raw/$s.csv > work/$s"},
         {"name": "count {s}", "each": {"s": "work/{s}"}, "inputs": "work/{s}", "outputs": "counts/{s}",
          "run": "wc -l < work/$s > counts/$s"},
         {"name": "report", "inputs": ["work/*", "counts/*"], "run": "echo $* > report", "outputs": "report"}]
        """,
      """
      mkdir raw; for s in a b c; do echo $s > raw/$s.csv; done
      $RUNBOOK -q plan.json; rm raw/b.csv raw/c.csv; echo own > work/c
      $RUNBOOK -q plan.json; cat report; $RUNBOOK --prune plan.json
      """)
    #expect(execution.lines.first == "work/a work/c counts/a counts/c", "\(execution.output)")
    #expect(execution.output.contains("removed 'work/b'"), "\(execution.output)")
    #expect(execution.output.contains("removed 'counts/b'"))
    #expect(!execution.output.contains("removed 'work/c'"))
  }

  @Test("make shares the jobs of the run")
  func make() async throws {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/make") else { return }
    // Each of the jobs of two makes notes how many there are.
    let makefile = """
      all: 1 2 3 4 5 6
      1 2 3 4 5 6:
      \t@mkdir running.$@.$$PPID; ls | grep -c '^running' >> counts; sleep 0.05; rmdir running.$@.$$PPID

      """
    #expect(OutputFile.write(makefile, to: runbook.directory.path + "/Makefile") == nil)
    let execution = try await runbook.run(
      plan: """
        [{"name": "a", "run": "make", "jobserver": true}, {"name": "b", "run": "make", "jobserver": true},
         {"name": "c", "run": "true"}]
        """, "-j3")
    #expect(execution.exit == .status(0), "\(execution.output)")
    #expect(!execution.output.contains("warning"), "\(execution.output)")
    let counts = (runbook.text("counts") ?? "").split(separator: "\n").compactMap {
      Int($0.trimmingCharacters(in: .whitespaces))
    }
    #expect(counts.count == 12 && (counts.max() ?? 0) <= 3, "\(counts)")
  }

  @Test("a step that waits for a job that a make has taken does not use up its time limit")
  func limitBehindMake() async throws {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/make") else { return }
    // The make takes the job that the first step has had, and keeps it longer than the limit.
    let makefile = "all: 1 2\n1 2:\n\t@sleep 1.5\n"
    #expect(OutputFile.write(makefile, to: runbook.directory.path + "/Makefile") == nil)
    let execution = try await runbook.run(
      plan: """
        [{"name": "make", "run": "make", "jobserver": true}, {"name": "first", "run": "sleep 0.2"},
         {"name": "second", "run": "true", "after": "first", "timeout": 1}]
        """, "-j2")
    #expect(execution.exit == .status(0), "\(execution.output)")
  }
}

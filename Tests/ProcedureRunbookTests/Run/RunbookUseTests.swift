import Foundation
import ProceduresProcess
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

/// Options and keys, as users meet them: the built program.
@Suite("runbook in use", .hangLimit)
struct RunbookUseTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  @Test("a plan may come from a pipe, by any name, and from standard input")
  func pipes() async throws {
    for script in [
      "cat plan.json | $RUNBOOK -", "cat plan.json | $RUNBOOK /dev/stdin",
      "mkfifo pipe; cat plan.json > pipe & exec $RUNBOOK ./pipe", "$RUNBOOK -f - < plan.json",
    ] {
      let execution = try await runbook.shell(
        plan: #"[{"name": "where", "run": "pwd -P"}]"#, script)
      #expect(execution.exit == .status(0), "\(script): \(execution.errorOutput)")
      #expect(execution.output.contains("where | /"))
    }
  }

  @Test("a parent that ignores the end of its children does no harm")
  func ignoredChildSignal() async throws {
    let execution = try await runbook.shell(
      plan: #"[{"name": "a", "run": "echo ran >> log", "retries": 2}]"#,
      "trap '' CHLD; env --ignore-signal=CHLD $RUNBOOK plan.json")
    #expect(execution.exit == .status(0), "\(execution.output)\(execution.errorOutput)")
    #expect(runbook.text("log") == "ran\n")
  }

  @Test("bad plans are one sentence each, and status 2, whatever their size")
  func badPlans() async throws {
    let size = Rounds.isStress ? 10_000 : 1_000
    let cycle = (0..<size).map {
      #"{"name": "s\#($0)", "run": "x", "after": "s\#(($0 + 1) % size)"}"#
    }
    for plan in [
      "[\(cycle.joined(separator: ","))]", "[\(String(repeating: "1", count: 10 * size))]",
      "[1e400]",
      "\u{FEFF}[]", #"[{"name": "a", "run": "x", "environment": {"A=B": ""}}]"#,
    ] {
      let execution = try await runbook.run(plan: plan)
      #expect(execution.exit == .status(2))
      #expect(execution.errorOutput.hasPrefix("runbook: plan.json, line 1"))
      #expect(execution.errorOutput.count < 400 && execution.errorOutput.hasSuffix("\n"))
    }
  }

  @Test("runbook.json is found above, its steps run in its directory, and steps may be named")
  func found() async throws {
    let execution = try await runbook.shell(
      plan: "",
      """
      mkdir -p deep/er other
      cat > runbook.json <<'END'
      {"steps": [{"name": "a", "run": "pwd -P >> log"}, {"name": "b", "run": "pwd -P >> ../log",
        "after": "a", "directory": "other"}, {"name": "c", "run": "touch c"},]}
      END
      cd deep/er && $RUNBOOK -q b && $RUNBOOK --list && cd / && exec $RUNBOOK -q -C $OLDPWD/.. a
      """)
    #expect(execution.exit == .status(0), "\(execution.output)\(execution.errorOutput)")
    let lines = runbook.text("log")?.split(separator: "\n").map(String.init) ?? []
    #expect(lines.count == 3)
    #expect(lines.first.map { lines == [$0, "\($0)/other", $0] } == true, "\(lines)")
    #expect(!runbook.hasFile("c"))
    #expect(execution.output.contains("c  touch c\n"))
  }

  @Test("retries: a step is tried again, after a delay, and its timeout is for each attempt")
  func retries() async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "third time", "run": "echo x >> tries; test $(wc -l < tries) -eq 3",
          "retries": 5, "retryDelay": 0.01},
         {"name": "never", "run": "echo x >> all; exit 4", "retries": 2}]
        """, "-k", "--report", "report.json")
    #expect(execution.exit == .status(1))
    #expect(runbook.text("tries") == "x\nx\nx\n" && runbook.text("all") == "x\nx\nx\n")
    #expect(execution.output.contains("failed: exited with status 4"))
    #expect(runbook.text("report.json")?.contains(#""attempts": 3"#) == true)
  }

  @Test(
    "retries: the end of an attempt ends its line, as the end of a check does",
    arguments: ["", "--group-output"])
  func linesOfAttempts(option: String) async throws {
    let execution = try await runbook.run(
      plan: """
        {"secrets": ["KEY"], "steps": [{"name": "a", "onlyIf": "printf check >&2", "environment": {"KEY": "attempts"},
         "run": "printf attempt; test $RUNBOOK_ATTEMPT = 2", "retries": 1}]}
        """, "--logs", "logs", "--quiet", "--color=never")
    #expect(execution.exit == .status(0), "\(execution.output)")
    #expect(runbook.text("logs/1-a.log") == "check\nattempt\nattempt")
    let shown = try await runbook.shell(
      plan: #"[{"name": "a", "run": "printf attempt; exit 1", "retries": 1}]"#,
      "$RUNBOOK \(option) plan.json")
    let lines = shown.lines.filter { $0.hasPrefix("again ") || $0.hasPrefix("a |") }
      .map { $0.prefix(11) }
    #expect(
      lines
        == (option.isEmpty
          ? ["a | attempt", "again      ", "a | attempt"]
          : ["again      ", "a | attempt", "a | attempt"]),
      "\(shown.output)")
  }

  @Test("Z4: retries: an attempt that ran out of time is tried again as well")
  func retriesAfterTimeout() async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "second time", "run": "test -e slow && exit 0; touch slow; sleep 600",
          "retries": 1000, "timeout": 0.3}]
        """, "--report", "report.json")
    #expect(execution.exit == .status(0), "\(execution.output)")
    // On a busy machine the shell may not even begin in the time of an attempt.
    let attempts = try #require(
      runbook.text("report.json")?.firstMatch(of: /"attempts": (\d+)/))
    #expect(Int(attempts.1).map { $0 >= 2 } == true)
  }

  @Test("the step that stopped the run is named as the cause, and no step that was stopped")
  func otherStepsFailure() async throws {
    // It stops when the other one runs.
    let others = #"""
      {"name": "up", "run": "read x < up"}, {"name": "other", "run": "echo up > up; sleep 600"},
      {"name": "last", "run": "true", "after": "other"}
      """#
    for (step, word) in [
      (#"{"name": "a", "run": "sleep 600", "timeout": 0.3, "after": "up"}"#, "1 timed out"),
      (#"{"name": "a", "run": "true", "onlyIf": "kill -9 $$", "after": "up"}"#, "1 failed"),
    ] {
      let execution = try await runbook.shell(
        plan: "[\(step), \(others)]", "rm -f up; mkfifo up; exec $RUNBOOK -j2 plan.json")
      #expect(execution.exit == .status(1))
      #expect(
        execution.lines.last?.hasSuffix(": 1 succeeded, \(word), 1 cancelled, 1 not run") == true,
        "\(execution.output)")
    }
  }

  @Test(
    "inputs and outputs: a step that is up to date is not run; a failure or a change runs it again")
  func freshness() async throws {
    let plan = """
      [{"name": "make", "run": "cat in > out; echo x >> log; test -e ok", "inputs": "in",
        "outputs": "out"},
       {"name": "use", "run": "cat out > last; echo y >> log", "inputs": ["out"], "outputs": "last",
        "after": "make"}]
      """
    func run(_ script: String, _ options: String = "") async throws -> [String] {
      let execution = try await runbook.shell(
        plan: plan, "\(script); rm -f log; $RUNBOOK \(options) plan.json > text; echo $?")
      return [execution.output.replacing("\n", with: ""), runbook.text("log") ?? ""]
    }
    #expect(try await run("true") == ["1", ""])
    #expect(try await run("echo 1 > in") == ["1", "x\n"])
    // Its output is there and new, but it failed.
    #expect(try await run("touch ok") == ["0", "x\ny\n"])
    #expect(try await run("true") == ["0", ""])
    #expect(runbook.text("text")?.hasSuffix(": 2 not needed\n") == true)
    #expect(try await run("touch in") == ["0", ""])
    #expect(try await run("rm last") == ["0", "y\n"])
    #expect(try await run("echo 2 > in") == ["0", "x\ny\n"])
    #expect(try await run("echo 3 > last") == ["0", "y\n"])
    #expect(try await run("rm plan.json.log .runbook.log 2> /dev/null") == ["0", "x\ny\n"])
  }

  @Test(
    "depfile: what the command says it has read is an input, from its first success on")
  func depfile() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "cc", "run": ["cat main.c $(cat list) > out", "echo out: main.c $(cat list) > out.d"],
          "inputs": ["main.c"], "outputs": "out", "depfile": "out.d"}]
        """,
      """
      run() { $RUNBOOK plan.json | tail -n 1; }
      echo 1 > main.c; echo 2 > a.h; echo a.h > list; run; run
      sleep 0.02; echo 33 > a.h; run; run; cat out
      echo b.h > list; touch b.h; rm a.h; run; run
      rm out.d; run
      """)
    let lines = execution.lines.map { $0.split(separator: ": ").last ?? "" }
    let (ran, not) = (Substring("1 succeeded"), Substring("1 not needed"))
    #expect(lines == [ran, not, ran, not, "1", "33", ran, not, ran], "\(execution.output)")
  }

  @Test(
    "depfile: a file that is changed while the command runs makes it run again; it must write its depfile"
  )
  func editedDependency() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "cc", "run": "x=$(cat a.h); test -e first || { sleep 0.02; echo new > a.h; touch -d '+1 hour' out; }; touch first; echo $x > out; echo out: a.h > out.d",
          "outputs": "out", "depfile": "out.d"},
         {"name": "none", "run": "touch x", "outputs": "x", "depfile": "x.d"}]
        """,
      """
      echo old > a.h; $RUNBOOK -k plan.json | tail -n 1; cat out
      $RUNBOOK -k plan.json | tail -n 1; cat out; exec $RUNBOOK -k plan.json
      """)
    #expect(
      execution.lines.prefix(4).map { $0.split(separator: ": ").last ?? "" } == [
        "1 succeeded, 1 failed", "old", "1 succeeded, 1 failed", "new",
      ])
    #expect(execution.lines.last?.hasSuffix(": 1 not needed, 1 failed") == true)
    #expect(execution.output.contains("did not make 'x.d'"))
  }

  @Test(
    "each: a step for each file of a pattern, or each combination of values, and no name is a command"
  )
  func each() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "count {s}", "each": {"s": "raw/x[{s}.csv"}, "group": "counts", "description": "lines of {s}",
          "run": "wc -l < \\"raw/x[$s.csv\\" > \\"out/$s\\"", "inputs": "raw/x[{s}.csv", "outputs": "out/{s}"},
         {"name": "{a}{b}", "each": {"a": ["1", "2"], "b": ["x", "y"]}, "run": "echo $a$b >> log", "after": "counts"}]
        """,
      """
      mkdir raw; echo > 'raw/x[one.csv'; echo > 'raw/x[$(touch bad) ;touch bad.csv'; touch raw/other.csv 'raw/x[.csv'
      $RUNBOOK --list plan.json; $RUNBOOK -j1 plan.json | tail -n 1; echo >> 'raw/x[one.csv'; $RUNBOOK -q -j1 plan.json; ls out
      """)
    #expect(
      execution.output.contains("count one") && execution.output.contains("[counts] lines of one"))
    #expect(execution.output.contains(": 6 succeeded"), "\(execution.output)")
    #expect(runbook.text("log") == "1x\n1y\n2x\n2y\n1x\n1y\n2x\n2y\n")
    #expect(runbook.text("out/one") == "2\n" && !runbook.hasFile("bad"))
  }

  @Test("parameters: variables of all steps; the command line sets them, and no others")
  func parameters() async throws {
    let plan = """
      {"parameters": {"target": "debug", "level": "1"},
       "steps": [{"name": "a", "run": "echo $target $level > a", "outputs": "a"},
                 {"name": "b", "run": "echo $level", "environment": {"level": "own"}}]}
      """
    func said(_ options: String...) async throws -> String {
      let execution = try await runbook.run(
        ["plan.json"] + options, onOutput: { _, _ in })
      return (runbook.text("a") ?? "") + execution.output + execution.errorOutput
    }
    _ = try await runbook.run(plan: plan, "--list")
    #expect(try await said().hasPrefix("debug 1\n"))
    let second = try await said("target=release", "level=a=b c")
    #expect(second.hasPrefix("release a=b c\n") && second.contains("b | own"))
    // Other values are other commands.
    #expect(try await said("target=release", "level=a=b c").contains("1 succeeded, 1 not needed"))
    #expect(try await said("a").hasPrefix("debug 1\n"))
    #expect(
      try await said("tarGet=x").contains("has no parameter 'tarGet'; did you mean 'target'?"))
  }

  @Test("pool: as many steps of it at the same time as the plan says, and never more")
  func pools() async throws {
    // The first three wait for each other; the rest only counts who is there.
    let steps = (0..<9).map { index in
      let meeting = index < 3 ? "echo up > in.\(index); read x < out.\(index);" : ""
      let run = "mkdir p.$$; ls -d p.* | wc -l; \(meeting) rmdir p.$$"
      return #"{"name": "s\#(index)", "pool": "three", "run": "\#(run)"}"#
    }
    let execution = try await runbook.shell(
      plan: #"{"pools": {"three": 3}, "steps": [\#(steps.joined(separator: ","))]}"#,
      """
      for i in 0 1 2; do mkfifo in.$i out.$i; done
      $RUNBOOK -j9 plan.json & p=$!
      for i in 0 1 2; do read x < in.$i; done
      for i in 0 1 2; do echo go > out.$i; done
      wait $p
      """)
    #expect(execution.exit == .status(0))
    let counts = execution.lines.filter { $0.contains(" | ") }.compactMap { Int($0.suffix(1)) }
    #expect(counts.count == 9 && counts.allSatisfy { $0 <= 3 }, "\(counts)")
  }

  @Test("--keep-going=N stops after N failures")
  func failureLimit() async throws {
    let steps = (0..<6).map { #"{"name": "s\#($0)", "run": "exit 1"}"# }
    let execution = try await runbook.run(
      plan: "[\(steps.joined(separator: ","))]", "-j1", "--keep-going=2")
    #expect(execution.exit == .status(1))
    #expect(execution.lines.last?.hasSuffix(": 2 failed, 4 not run") == true)
  }

  @Test("a group of very many steps, and very many steps after it, take memory for each once")
  func wideGroups() async throws {
    // A dependency for each pair would be a quarter of a million for a thousand steps.
    let size = Rounds.isStress ? 1000 : 200
    let steps = (0..<size).map { index in
      index < size / 2
        ? #"{"name": "s\#(index)", "run": ":", "group": "g", "onlyIf": "false"}"#
        : #"{"name": "s\#(index)", "run": ":", "after": "g", "onlyIf": "false"}"#
    }
    let execution = try await runbook.run(plan: "[\(steps.joined(separator: ","))]")
    #expect(execution.exit == .status(0))
    #expect(execution.lines.last?.hasSuffix(": \(size) not needed") == true)
  }

  @Test("the examples of the documentation are plans")
  func examples() throws {
    let folder = URL.packageRoot.appending(path: "Documentation/Examples")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".json") }
    #expect(names.count == 3)
    // The files that their patterns find.
    for file in ["src/main.c", "tests/login.sh"] {
      let path = runbook.directory.appending(path: file)
      try FileManager.default.createDirectory(
        at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
      #expect(OutputFile.write("", to: path.path) == nil)
    }
    for name in names {
      let bytes = try Data(contentsOf: folder.appending(path: name))
      let plan = try PlanFile.plan(from: bytes, directory: runbook.directory.path)
      #expect(plan.notes.isEmpty, "\(name)")
    }
  }
}

import Foundation
import ProceduresFoundation
import Testing

@testable import ProcedureRunbook

/// Options and keys, as users meet them: the built program.
@Suite("runbook in use", .timeLimit(.minutes(15)))
struct RunbookUseTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  @Test("a plan may come from a pipe, by any name, and from standard input")
  func pipes() async throws {
    defer { runbook.removeDirectory() }
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

  @Test("bad plans are one sentence each, and status 2, whatever their size")
  func badPlans() async throws {
    defer { runbook.removeDirectory() }
    let cycle = (0..<10_000).map {
      #"{"name": "s\#($0)", "run": "x", "after": "s\#(($0 + 1) % 10_000)"}"#
    }
    for plan in [
      "[\(cycle.joined(separator: ","))]", "[\(String(repeating: "1", count: 100_000))]", "[1e400]",
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
    defer { runbook.removeDirectory() }
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
    defer { runbook.removeDirectory() }
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

  @Test("inputs and outputs: what is up to date is not run; a failure or a change has it run again")
  func freshness() async throws {
    defer { runbook.removeDirectory() }
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
    #expect(runbook.text("text")?.contains("make  not needed: up to date") == true)
    #expect(try await run("sleep 0.02; touch in") == ["0", "x\ny\n"])
    #expect(try await run("rm last") == ["0", "y\n"])
    // By content, the first time there is nothing to compare with.
    #expect(try await run("true", "--content") == ["0", "x\ny\n"])
    #expect(try await run("sleep 0.02; touch in", "--content") == ["0", ""])
    #expect(try await run("echo 2 > in", "--content") == ["0", "x\ny\n"])
  }

  @Test("pool: never more steps of it at the same time than the plan says")
  func pools() async throws {
    defer { runbook.removeDirectory() }
    let steps = (0..<9).map {
      #"{"name": "s\#($0)", "run": "mkdir p.$$; ls -d p.* | wc -l; sleep 0.1; rmdir p.$$", "pool": "three"}"#
    }
    let execution = try await runbook.run(
      plan: #"{"pools": {"three": 3}, "steps": [\#(steps.joined(separator: ","))]}"#, "-j9")
    #expect(execution.exit == .status(0))
    let counts = execution.lines.filter { $0.contains(" | ") }.compactMap { Int($0.suffix(1)) }
    #expect(counts.count == 9 && counts.allSatisfy { $0 <= 3 } && counts.contains(3), "\(counts)")
  }

  @Test("--keep-going=N stops after N failures")
  func failureLimit() async throws {
    defer { runbook.removeDirectory() }
    let steps = (0..<6).map { #"{"name": "s\#($0)", "run": "exit 1"}"# }
    let execution = try await runbook.run(
      plan: "[\(steps.joined(separator: ","))]", "-j1", "--keep-going=2")
    #expect(execution.exit == .status(1))
    #expect(execution.lines.last?.hasSuffix(": 2 failed, 4 not run") == true)
  }

  @Test("--launcher runs each command; its status, its delay and its stubbornness are the step's")
  func launcher() async throws {
    defer { runbook.removeDirectory() }
    let launcher = """
      cat > launch <<'END'
      #!/bin/sh
      echo "launched with $1"; shift; sleep 0.1
      trap '' TERM
      "$@"
      END
      chmod +x launch

      """
    let good = try await runbook.shell(
      plan: """
        [{"name": "a", "run": "echo \\"$A\\" in $(basename $(pwd)) > a; exit 5",
          "environment": {"A": "it's \\"so\\""}},
         {"name": "b", "run": "echo own", "launcher": "env X=1"}]
        """, launcher + "exec $RUNBOOK -k --launcher './launch -n1' plan.json")
    #expect(good.exit == .status(1))
    #expect(good.output.contains("a | launched with -n1") && good.output.contains("b | own"))
    #expect(good.output.contains("failed: exited with status 5"))
    #expect(runbook.text("a")?.hasPrefix("it's \"so\" in RunbookTests-") == true)

    let stubborn = try await runbook.shell(
      plan: #"[{"name": "a", "run": "touch up; sleep 600; :", "timeout": 600}]"#,
      launcher + """
        $RUNBOOK --launcher './launch -n1' --grace 0.2 plan.json & p=$!
        while ! [ -e up ]; do sleep 0.02; done
        kill -TERM $p; wait $p
        """)
    #expect(stubborn.exit == .status(143))
    #expect(stubborn.output.contains("cancelled"))

    let missing = try await runbook.shell(
      plan: #"[{"name": "a", "run": "true"}]"#,
      "exec $RUNBOOK --launcher no-such-launcher plan.json")
    #expect(missing.exit == .status(1))
    #expect(missing.output.contains("no-such-launcher"))
  }

  @Test("a group of very many steps, and very many steps after it, take memory for each once")
  func wideGroups() async throws {
    defer { runbook.removeDirectory() }
    // A dependency for each pair would be a quarter of a million for each of them.
    let steps = (0..<1000).map { index in
      index < 500
        ? #"{"name": "s\#(index)", "run": ":", "group": "g", "onlyIf": "false"}"#
        : #"{"name": "s\#(index)", "run": ":", "after": "g", "outputs": "plan.json"}"#
    }
    let execution = try await runbook.run(plan: "[\(steps.joined(separator: ","))]", "-q")
    #expect(execution.exit == .status(0))
    #expect(execution.lines.last?.hasSuffix(": 1000 not needed") == true)
  }

  @Test("the examples of the documentation are plans")
  func examples() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Documentation/Examples")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".json") }
    #expect(names.count == 2)
    for name in names {
      #expect(throws: Never.self) {
        try PlanFile.plan(atPath: folder.appending(path: name).path)
      }
    }
  }
}

import Foundation
@testable import ProceduresProcess
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The time limit is for what would hang, not for slow machines; steps that are to be ended sleep
/// longer than that.
@Suite("runbook", .hangLimit)
struct RunbookTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  @Test("a plan that succeeds runs in order, prints its table and exits with 0")
  func success() async throws {
    let execution = try await runbook.run(
      plan: """
        {"steps": [
          {"name": "third", "run": "echo 3 >> log", "after": ["pair"]},
          {"name": "second", "run": "echo 2 >> log", "after": ["first"], "group": "pair"},
          {"name": "other", "run": "cat; echo $A $(pwd)", "group": "pair",
           "environment": {"A": "said"}, "directory": "/"},
          {"name": "first", "run": "echo 1 >> log"}
        ]}
        """)
    #expect(execution.exit == .status(0))
    #expect(runbook.text("log") == "1\n2\n3\n")
    #expect(execution.output.contains("other | said /\n"))
    #expect(row("third", in: execution)?.contains("succeeded") == true)
    #expect(execution.lines.last?.contains(": 4 succeeded") == true)
    #expect(execution.errorOutput.isEmpty)
  }

  @Test("the first failure stops the rest, shows its last output and exits with 1")
  func failure() async throws {
    try runbook.makePipe("up")
    let execution = try await runbook.run(
      plan: """
        [{"name": "long", "run": "echo $$ > long.pid; echo up > up; sleep 600"},
         {"name": "bad", "run": "read x < up; echo why; exit 3"},
         {"name": "never", "run": "touch never", "after": ["bad"]}]
        """, "--jobs=2")
    #expect(execution.exit == .status(1))
    #expect(execution.output.contains("last output of bad:\n  why\n"))
    #expect(row("bad", in: execution)?.contains("failed: exited with status 3") == true)
    #expect(row("long", in: execution)?.contains("cancelled") == true)
    #expect(row("never", in: execution)?.contains("not run") == true)
    #expect(!runbook.hasFile("never"))
    try expectGone("long.pid")
  }

  @Test("--keep-going runs what does not need the failed step, and skips what does")
  func keepGoing() async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "bad", "run": "exit 1", "group": "g"},
         {"name": "good", "run": "touch good", "group": "g"},
         {"name": "independent", "run": "touch independent", "after": ["good"]},
         {"name": "dependent", "run": "touch dependent", "after": ["bad"]},
         {"name": "after the group", "run": "touch group", "after": ["g"]},
         {"name": "last", "run": "touch last", "after": ["dependent"]}]
        """, "--keep-going")
    #expect(execution.exit == .status(1))
    #expect(runbook.hasFile("good") && runbook.hasFile("independent"))
    #expect(!runbook.hasFile("dependent") && !runbook.hasFile("group") && !runbook.hasFile("last"))
    #expect(row("dependent", in: execution)?.contains("skipped: 'bad' did not") == true)
    #expect(row("after the group", in: execution)?.contains("skipped: 'bad' did not") == true)
    #expect(row("last", in: execution)?.contains("skipped: 'dependent' did not") == true)
    #expect(execution.lines.last?.contains("2 succeeded, 1 failed, 3 skipped") == true)
  }

  @Test("--jobs bounds the running steps over groups")
  func jobs() async throws {
    let step = "mkdir lock && sleep 0.03 && rmdir lock"
    let steps = (0..<6).map {
      #"{"name": "\#($0)", "run": "\#(step)", "group": "g\#($0 % 3)"}"#
    }
    let execution = try await runbook.run(
      plan: "[\(steps.joined(separator: ","))]", "--jobs", "1", "-k")
    #expect(execution.exit == .status(0), "\(execution.output)")
  }

  @Test("a step that takes longer than its timeout is stopped, and has failed")
  func stepTimeout() async throws {
    let execution = try await runbook.run(
      plan: #"[{"name": "slow", "run": "echo $$ > pid; sleep 600; :", "timeout": 0.1}]"#)
    #expect(execution.exit == .status(1))
    #expect(row("slow", in: execution)?.contains("timed out: more than 0.10 s") == true)
    try expectGone("pid", orNeverThere: true)
  }

  @Test("--timeout stops the whole run")
  func wholeTimeout() async throws {
    let plan = """
      [{"name": "slow", "run": "echo $$ > pid; sleep 600; :"},
       {"name": "next", "run": "touch next", "after": ["slow"]}]
      """
    // On a busy machine it may be over before the step has begun: then it gets longer.
    var seconds = 1
    var execution = try await runbook.run(plan: plan, "--timeout", "\(seconds)", "--keep-going")
    while row("slow", in: execution)?.contains("not run") == true {
      seconds *= 10
      execution = try await runbook.run(plan: plan, "--timeout", "\(seconds)", "--keep-going")
    }
    #expect(execution.exit == .status(1))
    let limit = Duration.seconds(seconds).text
    #expect(
      row("slow", in: execution)?.contains("timed out: the \(limit) of the whole run were over")
        == true)
    #expect(row("next", in: execution)?.contains("not run") == true)
    #expect(!runbook.hasFile("next"))
    try expectGone("pid", orNeverThere: true)
  }

  @Test("Ctrl-C ends running steps with SIGTERM, starts no other, prints the table, exits with 130")
  func interrupt() async throws {
    // A child of the shell would inherit its trap until it is another program, and then have missed
    // the signal.
    try runbook.makePipe("never")
    let execution = try await runbook.run(
      plan: """
        [{"name": "one", "run": "trap 'echo cleaned; exit 1' TERM; echo $$ > one; echo ready; while :; do read x < never; done"},
         {"name": "two", "run": "echo $$ > two; echo ready; sleep 600 | cat", "group": "g"},
         {"name": "three", "run": "touch three", "after": ["g"]},
         {"name": "four", "run": "touch four", "after": ["one"], "group": "h"}]
        """, "--jobs", "4", "--grace", "600",
      onOutput: interrupt(once: { $0.contains("one | ready") && $0.contains("two | ready") }))
    #expect(execution.exit == .status(130))
    #expect(execution.output.contains("one | cleaned"))
    #expect(row("one", in: execution)?.contains("cancelled") == true)
    #expect(row("two", in: execution)?.contains("cancelled") == true)
    #expect(row("three", in: execution)?.contains("not run") == true)
    #expect(row("four", in: execution)?.contains("not run") == true)
    #expect(!runbook.hasFile("three") && !runbook.hasFile("four"))
    try expectGone("one")
    try expectGone("two")
  }

  @Test("a second Ctrl-C kills at once what ignores the first")
  func secondInterrupt() async throws {
    // What it says then is shown when it has ended: it tells of the first by a pipe.
    let execution = try await runbook.shell(
      plan: """
        [{"name": "deaf", "run": "trap 'echo no > up' TERM; echo $$ > pid; echo up > up; while :; do sleep 0.02; done"}]
        """,
      """
      mkfifo up; exec 3<> up
      $HEARING --grace 600 plan.json & p=$!
      read x <&3; kill -INT $p; read x <&3; kill -INT $p; wait $p
      """)
    // The first alone would not have killed it in the time that this test has.
    #expect(execution.exit == .status(130))
    try expectGone("pid")
  }

  @Test("a process that a step leaves in the background ends with the step")
  func background() async throws {
    let execution = try await runbook.run(
      plan: #"[{"name": "a", "run": "sleep 600 > /dev/null 2>&1 & echo $$ > pid"}]"#)
    #expect(execution.exit == .status(0))
    try expectGone("pid")
  }

  @Test("a bad plan or command line is one sentence on standard error, and exits with 2")
  func badPlans() async throws {
    let cycle = try await runbook.run(
      plan: """
        [{"name": "a", "run": "x", "after": ["b"]},
         {"name": "b", "run": "x", "after": ["a"]}]
        """)
    #expect(cycle.exit == .status(2))
    #expect(
      cycle.errorOutput
        == "runbook: plan.json, line 1: these wait for each other in a cycle: a → b → a\n")
    #expect(cycle.output.isEmpty)

    let missing = try await runbook.run(["no-such.json"])
    #expect(missing.exit == .status(2))
    #expect(
      missing.errorOutput
        == "runbook: no-such.json: the plan cannot be read: there is no file 'no-such.json'\n")

    let option = try await runbook.run(["--what"])
    #expect(option.exit == .status(2))
    #expect(option.errorOutput.contains("--what"))
  }

  @Test("--dry-run and --graph print, and run nothing")
  func printing() async throws {
    let plan =
      #"[{"name": "b", "run": "touch b", "after": ["a"]}, {"name": "a", "run": "touch a"}]"#
    let dry = try await runbook.run(plan: plan, "--dry-run")
    #expect(dry.exit == .status(0))
    #expect(dry.output == "1. a\n   $ touch a\n2. b, after a\n   $ touch b\n")
    let graph = try await runbook.run(plan: plan, "--graph")
    #expect(graph.exit == .status(0))
    #expect(graph.output.hasPrefix("flowchart LR\n"))
    #expect(graph.output.contains("n1 --> n0"))
    #expect(!runbook.hasFile("a") && !runbook.hasFile("b"))
  }

  @Test("--quiet prints what failed, with its output, and nothing of a success")
  func quiet() async throws {
    let execution = try await runbook.run(
      plan:
        #"[{"name": "a", "run": "echo one"}, {"name": "b", "run": "echo two; exit 1", "after": ["a"]}]"#,
      "--quiet")
    #expect(execution.exit == .status(1))
    #expect(!execution.output.contains("one"))
    #expect(!execution.output.contains("started"))
    #expect(execution.output.contains("last output of b:\n  two\n"))
    #expect(execution.output.contains("b     failed: exited with status 1"))
    #expect(execution.lines.last?.hasSuffix(": 1 succeeded, 1 failed") == true)
    let success = try await runbook.run(plan: #"[{"name": "a", "run": "echo one"}]"#, "-q")
    #expect(success.exit == .status(0) && success.output.isEmpty && success.errorOutput.isEmpty)
  }

  @Test("--help says how a plan is written")
  func help() async throws {
    let execution = try await runbook.run(["--help"])
    #expect(execution.exit == .status(0))
    for word in ["--jobs", "--keep-going", "\"after\"", "environment", "onlyIf", "130"] {
      #expect(execution.output.contains(word))
    }
  }

  @Test(
    "without arguments runbook works on the files of its own package, and leaves nothing behind"
  )
  func builtInPlan() async throws {
    // A package with a few of the files.
    let manager = FileManager.default
    let package = runbook.directory.appending(path: "package")
    let folders = ["Sources/ProcedureRunbook/System", "Tests/ProcedureTestSupport"]
    for folder in folders {
      let copy = package.appending(path: folder)
      try manager.createDirectory(
        at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
      try manager.copyItem(at: URL.packageRoot.appending(path: folder), to: copy)
    }
    let manifest = "Package.swift"
    try manager.copyItem(
      at: URL.packageRoot.appending(path: manifest), to: package.appending(path: manifest))
    let temporary = runbook.directory.appending(path: "temporary")
    try manager.createDirectory(at: temporary, withIntermediateDirectories: false)

    let execution = try await runbook.run(
      ["-C", package.path], environment: ["TMPDIR": temporary.path])
    #expect(execution.exit == .status(0), "\(execution.output)")
    #expect(execution.output.contains("each file verified against its source"))
    #expect(execution.errorOutput.isEmpty)
    #expect(try manager.contentsOfDirectory(atPath: temporary.path).isEmpty)
    #expect(try manager.contentsOfDirectory(atPath: package.path).count == 3)
  }

  @Test(
    "a terminal shows a live line for the running step and a bar for the whole",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script"), "needs 'script'"))
  func terminal() async throws {
    let path = try #require(RunbookExecutable.path)
    try runbook.makePipe("go")
    try Data(#"[{"name": "wait", "run": "read x < go"}]"#.utf8)
      .write(to: runbook.directory.appending(path: "plan.json"))
    #if canImport(Darwin)
      let arguments = ["-q", "/dev/null", path, "plan.json"]
    #else
      let arguments = ["-qec", "\(path) plan.json", "/dev/null"]
    #endif
    let once = Counter()
    let execution = try await runbook.run(
      arguments, program: "/usr/bin/script", environment: ["TERM": "xterm", "NO_COLOR": "1"],
      onOutput: { text, _ in
        guard once.value == 0, text.contains("0/1 steps, 1 running") else { return }
        once.increment()
        runbook.writePipe("go")
      })
    #expect(execution.exit == .status(0))
    #expect(execution.output.contains("░ 0/1 steps, 1 running"))
    #expect(execution.output.contains("\u{1B}[?25h"))
    #expect(execution.output.contains("1 step in"))
  }

  @Test("exclusive: steps that share a name never run at the same time, in groups or not")
  func exclusive() async throws {
    let script = "mkdir lock && sleep 0.03 && rmdir lock"
    let steps = (0..<6).map {
      #"{"name": "\#($0)", "run": "\#(script)", "group": "g\#($0 % 3)", "exclusive": ["n\#($0)", "lock"]}"#
    }
    let execution = try await runbook.run(
      plan: "[\(steps.joined(separator: ","))]", "--jobs", "6", "-k")
    #expect(execution.exit == .status(0), "\(execution.output)")
  }

  @Test("onlyIf and unless: a step that is not needed is no failure, and what is after it goes on")
  func conditions() async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "make", "run": "touch made"},
         {"name": "a", "run": "touch a", "after": ["make"], "onlyIf": "test -e made"},
         {"name": "b", "run": "touch b", "after": ["make"], "onlyIf": "test -e missing", "group": "g"},
         {"name": "c", "run": "touch c", "after": ["make"], "unless": "test -e missing"},
         {"name": "d", "run": "touch d", "after": ["make"], "unless": "test -e $F", "group": "g",
          "environment": {"F": "made"}},
         {"name": "e", "run": "touch e", "after": ["g"], "onlyIf": "true", "unless": "false"},
         {"name": "f", "run": "touch f", "after": ["g"], "onlyIf": "true", "unless": "true"}]
        """, "--jobs", "1")
    #expect(execution.exit == .status(0), "\(execution.output)")
    for name in ["a", "c", "e"] { #expect(runbook.hasFile(name), "\(name)") }
    for name in ["b", "d", "f"] {
      #expect(!runbook.hasFile(name) && row(name, in: execution)?.contains("not needed") == true)
    }
    #expect(execution.lines.last?.contains(": 4 succeeded, 3 not needed") == true)
  }

  @Test("a check is not run before what the step is after has succeeded, nor if that failed")
  func checkAfterFailure() async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "bad", "run": "exit 1"},
         {"name": "next", "run": "touch next", "after": ["bad"], "onlyIf": "touch checked"}]
        """, "--keep-going")
    #expect(execution.exit == .status(1))
    #expect(row("next", in: execution)?.contains("skipped: 'bad' did not") == true)
    #expect(!runbook.hasFile("checked") && !runbook.hasFile("next"))
  }

  @Test("a check that is ended by a signal, or takes too long, is a failure of its step")
  func failingChecks() async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "killed", "run": "touch killed", "onlyIf": "kill -9 $$"},
         {"name": "slow", "run": "touch slow", "unless": "echo $$ > pid; sleep 600; :", "timeout": 0.1},
         {"name": "late", "run": "touch slow", "onlyIf": "sleep 600", "timeout": 0.1, "retries": 1},
         {"name": "nowhere", "run": "true", "onlyIf": "true", "directory": "no-such-directory"}]
        """, "--keep-going", "--report", "report.json", "--junit", "junit.xml")
    #expect(execution.exit == .status(1))
    #expect(
      row("killed", in: execution)?.contains("failed: 'onlyIf' was ended by signal 9") == true)
    let words = "'onlyIf' took more than 0.10 s"
    #expect(
      row("slow", in: execution)?.contains("timed out: 'unless' took more than 0.10 s") == true)
    #expect(row("late", in: execution)?.contains("timed out: \(words)") == true)
    for report in ["report.json", "junit.xml"] {
      #expect(runbook.text(report)?.contains(words) == true, "\(report)")
    }
    #expect(row("nowhere", in: execution)?.contains("failed: 'onlyIf'") == true)
    #expect(!runbook.hasFile("killed") && !runbook.hasFile("slow"))
    try expectGone("pid", orNeverThere: true)
  }

  @Test("Ctrl-C ends a check, and nothing of it is left")
  func interruptedCheck() async throws {
    // A child of the shell would inherit its trap until it is another program, and then have missed
    // the signal.
    try runbook.makePipe("never")
    let execution = try await runbook.run(
      plan: """
        [{"name": "checking", "run": "touch ran",
          "onlyIf": "trap 'sleep 0.1; exit 0' TERM; echo $$ > pid; echo ready >&2; while :; do read x < never; done"}]
        """, "--grace", "600",
      onOutput: interrupt(once: { $0.contains("checking | ready") }))
    #expect(execution.exit == .status(130))
    #expect(row("checking", in: execution)?.contains("not run") == true)
    #expect(!runbook.hasFile("ran"))
    try expectGone("pid")
  }

  /// What the line about the end of a step says: `outcome: reason`.
  private func row(_ name: String, in execution: RunbookExecutable.Execution) -> String? {
    for (line, word) in execution.lines.flatMap({ line in StepOutcome.words.map { (line, $0) } }) {
      let head = "\(word.rightPadded(to: 10)) \(name)"
      guard line.hasPrefix(head) else { continue }
      let rest = line.dropFirst(head.count)
      if rest.isEmpty || rest.hasPrefix(":") || rest.hasPrefix(" (") { return word + rest }
    }
    return nil
  }

  /// Sends one SIGINT for each of these, in order, as soon as the output says so.
  private func interrupt(
    once conditions: (@Sendable (String) -> Bool)...
  ) -> @Sendable (String, Int32) -> Void {
    let sent = Counter()
    // Called by one thread at a time.
    return { text, process in
      while sent.value < conditions.count, conditions[sent.value](text) {
        sent.increment()
        kill(process, SIGINT)
      }
    }
  }

  /// That the group of the process whose identifier is in a file has no running process left.
  ///
  /// - Parameter orNeverThere: a short timeout may have ended it before it wrote the file.
  private func expectGone(
    _ file: String, orNeverThere: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let content = runbook.text(file)
    if orNeverThere, content?.isEmpty ?? true { return }
    let text = try #require(content, sourceLocation: sourceLocation)
    let group = try #require(pid_t(text.dropLast()), sourceLocation: sourceLocation)
    #expect(ProcessGroup(identifier: group).isGone, sourceLocation: sourceLocation)
  }
}

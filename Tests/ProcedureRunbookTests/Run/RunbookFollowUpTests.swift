import Foundation
import ProceduresProcess
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

/// Steps that run after a failure or always, weights, and secrets, with the built program.
@Suite("runbook: at the end, and by weight", .hangLimit)
struct RunbookFollowUpTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  private func shell(_ plan: String, _ script: String) async throws -> RunbookExecutable.Execution {
    try await runbook.shell(plan: plan, script)
  }

  private static let plan = """
    [{"name": "work", "run": "echo $OUTCOME; exit $STATUS"},
     {"name": "next", "run": "touch next", "after": "work"},
     {"name": "clean", "run": "touch cleaned", "always": true},
     {"name": "tell", "run": "touch told", "onFailure": true},
     {"name": "of next", "run": "touch ofnext", "after": "next", "onFailure": true},
     {"name": "after clean", "run": "touch afterclean", "after": "clean", "always": true}]
    """

  @Test("after a success the steps for the end run, and those for a failure are not needed")
  func success() async throws {
    let execution = try await shell(Self.plan, "STATUS=0 exec $RUNBOOK -j1 plan.json")
    #expect(execution.exit == .status(0))
    #expect(execution.output.contains("not needed tell: nothing failed"), "\(execution.output)")
    #expect(execution.output.contains(": 4 succeeded, 2 not needed"))
    #expect(
      ["cleaned", "next", "afterclean"].allSatisfy(runbook.hasFile) && !runbook.hasFile("told"))
  }

  @Test(
    "after a failure the steps for the end and for a failure run, and the run has failed",
    arguments: ["", "-k"])
  func failure(options: String) async throws {
    let execution = try await shell(Self.plan, "STATUS=3 exec $RUNBOOK \(options) plan.json")
    #expect(execution.exit == .status(1))
    #expect(
      ["cleaned", "told", "ofnext", "afterclean"].allSatisfy(runbook.hasFile), "\(execution.output)"
    )
    #expect(!runbook.hasFile("next"))
  }

  @Test("the end of a group is that of all its steps, also when one of them has failed")
  func group() async throws {
    let execution = try await shell(
      """
      [{"name": "bad", "run": "exit 1", "group": "g"},
       {"name": "slow", "run": "read x < go; touch slow", "group": "g"},
       {"name": "go", "run": "echo x > go", "after": [], "unless": "false"},
       {"name": "clean", "run": "test -e slow && touch cleaned", "after": "g", "always": true}]
      """, "mkfifo go; exec $RUNBOOK -k -j3 plan.json")
    #expect(runbook.hasFile("cleaned"), "\(execution.output)")
  }

  @Test("the first Ctrl-C lets a step for the end run, the second ends it")
  func interrupts() async throws {
    let plan = """
      [{"name": "work", "run": "echo up > up; read x < never"},
       {"name": "tell", "run": "touch told", "onFailure": true},
       {"name": "clean", "run": "echo up > up; read x < go; touch cleaned", "always": true}]
      """
    let first = try await shell(
      plan,
      """
      mkfifo up never go; exec 3<> up 4<> go
      $HEARING plan.json & p=$!
      read x <&3; kill -INT $p; read x <&3; echo go >&4; wait $p
      """)
    #expect(first.exit == .status(130))
    #expect(runbook.hasFile("cleaned") && !runbook.hasFile("told"), "\(first.output)")
    let second = try await shell(
      plan,
      """
      rm cleaned; exec 3<> up 4<> go
      $HEARING plan.json & p=$!
      read x <&3; kill -INT $p; read x <&3; kill -INT $p; wait $p
      """)
    #expect(second.exit == .status(130) && !runbook.hasFile("cleaned"))
    #expect(second.lines.last?.contains("2 cancelled") == true, "\(second.output)")
  }

  @Test("steps for the end run when the time is up")
  func timeout() async throws {
    let execution = try await shell(
      """
      [{"name": "work", "run": "read x < never"},
       {"name": "clean", "run": "touch cleaned", "always": true},
       {"name": "tell", "run": "touch told", "onFailure": true}]
      """, "mkfifo never; exec $RUNBOOK --timeout 0.3 plan.json")
    #expect(execution.exit == .status(1))
    #expect(runbook.hasFile("cleaned") && runbook.hasFile("told"), "\(execution.output)")
  }

  @Test("a step that is up to date is no failure, and the steps for the end run all the same")
  func upToDate() async throws {
    let plan = """
      [{"name": "make", "run": "touch out", "outputs": "out"},
       {"name": "clean", "run": "echo x >> cleaned", "always": true},
       {"name": "tell", "run": "touch told", "onFailure": true}]
      """
    let execution = try await shell(
      plan, "$RUNBOOK plan.json && $RUNBOOK plan.json && $RUNBOOK -n --explain plan.json")
    #expect(runbook.text("cleaned") == "x\nx\n" && !runbook.hasFile("told"))
    #expect(execution.output.contains("1 step runs after a failure only"), "\(execution.output)")
    #expect(execution.output.contains("1 step is up to date"))
  }

  // MARK: Weights

  /// Counts what runs: each step notes its weight while it runs, and the largest sum stays.
  private static func counted(_ name: String, _ weight: String, _ more: String) -> String {
    """
    {"name": "\(name)", "run": "mkdir run/\(name) && echo \(weight) > run/\(name)/w; cat run/*/w 2> /dev/null | awk '{s += $1} END {print s}' >> sums; read x < go; rm -r run/\(name)", \(more)}
    """
  }

  @Test(
    "steps never use more processors and memory than there are, and one that says more runs alone")
  func weights() async throws {
    let steps =
      (0..<4).map { Self.counted("p\($0)", "2", #""cpu": 2"#) }
      + [Self.counted("big", "4", #""cpu": 64"#)]
      + (0..<2).map { Self.counted("s\($0)", "1", #""cpu": 1"#) }
    let execution = try await shell(
      "[\(steps.joined(separator: ","))]",
      """
      mkfifo go; mkdir run; exec 3<> go; for i in 1 2 3 4 5 6 7; do echo x >&3; done
      exec $RUNBOOK -j4 plan.json
      """)
    #expect(execution.exit == .status(0), "\(execution.output)")
    let sums = try #require(runbook.text("sums")).split(separator: "\n").compactMap { Int($0) }
    #expect(sums.count == 7 && sums.allSatisfy { $0 <= 4 }, "\(sums)")
  }

  @Test("memory is counted against --memory, whatever the number of jobs")
  func memory() async throws {
    let steps = (0..<5).map { Self.counted("m\($0)", "1", #""memory": "1G""#) }
    let execution = try await shell(
      "[\(steps.joined(separator: ","))]",
      """
      mkfifo go; mkdir run; exec 3<> go; for i in 1 2 3 4 5; do echo x >&3; done
      exec $RUNBOOK -j5 --memory 2.5G plan.json
      """)
    #expect(execution.exit == .status(0), "\(execution.output)")
    let sums = try #require(runbook.text("sums")).split(separator: "\n").compactMap { Int($0) }
    #expect(sums.count == 5 && sums.allSatisfy { $0 <= 2 }, "\(sums)")
  }

  // MARK: Secrets

  @Test("a secret is in no output, log or report, in pieces or not, whoever shows it")
  func secrets() async throws {
    let execution = try await shell(
      """
      {"secrets": ["TOKEN", "FROM_OUTSIDE"], "defaults": {"dotenv": "my.env"},
       "steps": [{"name": "a", "run": "printf 'to %s' $(echo $TOKEN | cut -c1-5); echo $TOKEN | cut -c6-; echo $FROM_OUTSIDE; exit 1"}]}
      """,
      """
      echo TOKEN=hunter2-hunter2 > my.env
      FROM_OUTSIDE=topsecret exec $RUNBOOK --logs logs --report r.json --junit j.xml plan.json
      """)
    let texts = [
      execution.output, runbook.text("logs/1-a.log"), runbook.text("r.json"), runbook.text("j.xml"),
    ]
    for text in texts {
      let text = try #require(text)
      #expect(!text.contains("unter2") && !text.contains("topsecret"), "\(text)")
    }
    #expect(
      execution.output.contains("a | to ***\n") && execution.output.contains("a | ***\n"),
      "\(execution.output)")
    #expect(texts[1] == "to ***\n***\n")
  }

  @Test("a secret in the name of a step or a group is shown nowhere, and two names stay two")
  func secretsInNames() async throws {
    let execution = try await shell(
      """
      {"secrets": ["TOKEN", "OTHER"], "parameters": {"TOKEN": "hunter2-hunter2", "OTHER": "topsecret"},
       "pools": {"hunter2-hunter2": 1},
       "steps": [{"name": "log in {t} long long long name", "each": {"t": ["hunter2-hunter2", "topsecret"]},
                  "run": "echo $t", "group": "of hunter2-hunter2"},
                 {"name": "use", "run": "false", "after": "of hunter2-hunter2", "exclusive": "topsecret",
                  "pool": "hunter2-hunter2", "onlyIf": "true"},
                 {"name": "then", "run": "true", "inputs": "topsecret", "description": "with hunter2-hunter2"}]}
      """,
      """
      for o in --list -n --graph --check; do $RUNBOOK $o plan.json; done
      $RUNBOOK -k --explain --summary --logs logs --report r.json --junit j.xml --html h.html --trace t.json plan.json 2>&1
      ls logs; cat r.json j.xml h.html t.json .runbook.log
      $RUNBOOK plan.json "log in topsecret long long long name" 2>&1 | tail -n 1
      """)
    #expect(
      !execution.output.contains("unter2") && !execution.output.contains("topsec"),
      "\(execution.output)")
    #expect(execution.output.contains("succeeded  log in *** long long long name ("))
    #expect(execution.output.contains("succeeded  log in *** long long long name (2) ("))
    #expect(execution.lines.last?.hasSuffix(": 1 succeeded") == true)
  }

  @Test("--check says that a plan is right, or what is wrong with it, and runs nothing")
  func check() async throws {
    let good = try await shell(Self.plan, "exec $RUNBOOK --check plan.json")
    #expect(
      good.exit == .status(0) && good.output.hasPrefix("nothing is wrong with the plan: 6 steps"))
    let bad = try await shell(
      #"{"include": "more.json"}"#, "echo '[{' > more.json; exec $RUNBOOK --check plan.json")
    #expect(bad.exit == .status(2))
    #expect(
      bad.errorOutput.contains("/more.json, line 2, column 1: this is not JSON"),
      "\(bad.errorOutput)")
  }
}

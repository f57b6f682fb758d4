import Foundation
import ProceduresProcess
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

/// Services wait for each other and for the test by files and pipes, never by time.
@Suite("runbook, services", .hangLimit)
struct RunbookServiceTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  /// Runs until it is asked to end, and notes that.
  private static func service(_ name: String, ready: String, _ more: String = "") -> String {
    """
    {"name": "\(name)", "service": true, \(more)
     "run": "trap 'echo end \(name) >> log; exit 3' TERM; echo start \(name) >> log; \(ready); while :; do sleep 0.02; done"
    """
  }

  @Test(
    "steps begin when their service is ready; it is stopped after them, which is no failure",
    arguments: ["1", "4"])
  func order(jobs: String) async throws {
    let execution = try await runbook.run(
      plan: """
        [\(Self.service("db", ready: "touch up", #""ready": "test -e up","#))},
         \(Self.service("api", ready: "test -e up && echo now listening on 80", #""readyLine": "listening on","#)),
          "after": "db"},
         {"name": "test", "run": "test -e up && echo test >> log", "after": "api"},
         {"name": "more", "run": "echo more >> log", "after": "test"},
         {"name": "last", "run": "echo last >> log", "always": true}]
        """, "-j", jobs)
    #expect(execution.exit == .status(0), "\(execution.output)")
    #expect(
      runbook.text("log")?.split(separator: "\n") == [
        "start db", "start api", "test", "more", "end api", "end db", "last",
      ])
    #expect(execution.output.contains("ready      db ("))
    #expect(execution.lines.last?.contains("5 succeeded") == true)
  }

  @Test("after a failure, too, services end in the opposite order")
  func failure() async throws {
    let execution = try await runbook.run(
      plan: """
        [\(Self.service("db", ready: ":", #""ready": "grep -q db log","#))},
         \(Self.service("api", ready: ":", #""ready": "grep -q api log","#)), "after": "db"},
         {"name": "test", "run": "exit 1", "after": "api"},
         {"name": "never", "run": "touch never", "after": "test"}]
        """)
    #expect(execution.exit == .status(1))
    #expect(runbook.text("log") == "start db\nstart api\nend api\nend db\n")
    #expect(execution.lines.last?.contains("2 succeeded, 1 failed, 1 not run") == true)
    #expect(!runbook.hasFile("never"))
  }

  @Test(
    "a service that ends by itself has failed, with any status, and nothing runs without it",
    arguments: ["0", "2"])
  func ends(status: String) async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "db", "service": true, "run": "exit \(status)", "ready": "false"},
         {"name": "test", "run": "touch never", "after": "db"}]
        """, "-k")
    #expect(execution.exit == .status(1))
    #expect(
      execution.output.contains(
        "failed     db: it exited with status \(status) before it was ready"))
    #expect(execution.output.contains("skipped    test: 'db' did not succeed"))
    #expect(!runbook.hasFile("never"))
  }

  @Test("a service that ends while steps need it has failed, and the next of these does not run")
  func endsInBetween() async throws {
    try runbook.makePipe("go")
    let execution = try await runbook.run(
      plan: """
        [{"name": "db", "service": true, "run": "read x < go; exit 0"},
         {"name": "test", "run": "echo > go; while test -d /proc/$(cat pid); do sleep 0.02; done", "after": "db"},
         {"name": "more", "run": "touch never", "after": "test"}]
        """.replacing("read x < go", with: "echo $$ > pid; read x < go"), "-k")
    #expect(execution.exit == .status(1))
    #expect(
      execution.output.contains("failed     db: it exited with status 0 while steps needed it"))
    #expect(!runbook.hasFile("never"))
  }

  @Test("one that goes into the background has ended, and is told to stay in front")
  func background() async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "db", "run": "sleep 600 & echo up", "service": true, "readyLine": "up"},
         {"name": "use", "run": "sleep 600", "after": "db"}]
        """)
    #expect(execution.exit == .status(1))
    #expect(
      execution.output.contains("; the command of a service must stay in front\n"),
      "\(execution.output)")
  }

  @Test("a service that does not get ready in its time has failed, with the reason")
  func notReady() async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "db", "service": true, "run": "sleep 600", "ready": "exit 4", "timeout": 0.5},
         {"name": "test", "run": "touch never", "after": "db"}]
        """)
    #expect(execution.exit == .status(1))
    #expect(execution.output.contains("failed     db: it was not ready within 0.50 s: 'ready' "))
    #expect(!runbook.hasFile("never"))
  }

  @Test("a command for readiness that is not found is a failure at once")
  func unknownCommand() async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "db", "service": true, "run": "sleep 600", "ready": "no-such-command"},
         {"name": "test", "run": "true", "after": "db"}]
        """)
    #expect(execution.exit == .status(1))
    #expect(execution.output.contains("failed     db: 'ready' exited with status 127"))
  }

  @Test("a service that is asked for alone runs until the run is stopped")
  func alone() async throws {
    let execution = try await runbook.shell(
      plan: """
        [\(Self.service("db", ready: ":"))},
         {"name": "test", "run": "touch never", "after": "db"}]
        """,
      """
      $HEARING plan.json db & pid=$!
      while ! grep -q start log; do sleep 0.02; done
      kill -INT $pid; wait $pid
      """)
    #expect(execution.exit == .status(130))
    #expect(runbook.text("log") == "start db\nend db\n")
    #expect(!runbook.hasFile("never"))
  }

  @Test("a service does not start for steps that are up to date, nor does --dry-run say so")
  func upToDate() async throws {
    let plan = """
      [\(Self.service("db", ready: "touch up", #""ready": "test -e up","#))},
       {"name": "test", "run": "touch out", "outputs": "out", "after": "db"}]
      """
    #expect(try await runbook.run(plan: plan).exit == .status(0))
    let second = try await runbook.run(plan: plan)
    #expect(second.lines.last?.contains("2 not needed") == true, "\(second.output)")
    #expect(runbook.text("log") == "start db\nend db\n")
    #expect(try await runbook.run(plan: plan, "-n").output == "2 steps are up to date\n")
  }

  @Test("a service starts for steps that turn out to be up to date after the steps before it")
  func upToDateLater() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "build", "run": "cat in > all; echo same > app", "inputs": "in", "outputs": ["app", "all"]},
         \(Self.service("db", ready: "touch up", #""ready": "test -e up","#)), "after": "build"},
         {"name": "test", "run": "echo test >> log", "inputs": "app", "after": "db"}]
        """, "echo 1 > in; $RUNBOOK -q plan.json; echo 2 > in; rm up; exec $RUNBOOK plan.json")
    #expect(execution.lines.last?.contains("2 succeeded, 1 not needed") == true)
    #expect(
      runbook.text("log")?.split(separator: "\n") == [
        "start db", "test", "end db", "start db", "end db",
      ])
  }

  @Test("--dry-run sees through a service which steps run before it")
  func dryRun() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "build", "run": "cp in app", "inputs": "in", "outputs": "app", "group": "apps"},
         \(Self.service("db", ready: ":")), "after": "apps", "group": "services"},
         {"name": "test", "run": "touch out", "outputs": "out", "after": "services"}]
        """,
      """
      echo 1 > in; $RUNBOOK -q plan.json; echo 2 > in
      $RUNBOOK -n --explain plan.json; rm out; echo 1 > in; $RUNBOOK -n plan.json
      """)
    #expect(
      execution.lines.filter { !$0.hasPrefix("   $") } == [
        "1. build [apps]", "   runs: 'in' is another than the last time",
        "2. db [services], after apps, service", "   runs: steps need it",
        "3. test, after services", "   runs: 'apps' runs before",
        "1. db [services], after apps, service", "2. test, after services", "1 step is up to date",
      ], "\(execution.output)")
  }

  @Test("a second Ctrl-C does not wait for a deaf service")
  func deaf() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "db", "service": true,
          "run": "trap 'echo no > up' TERM; echo $$ > pid; echo deaf > up; while :; do read x < never; done"},
         {"name": "test", "run": "echo up > up; sleep 600", "after": "db"}]
        """,
      """
      mkfifo up never; exec 3<> up
      $HEARING --grace 600 plan.json & p=$!
      read x <&3; read x <&3; kill -INT $p; read x <&3; kill -INT $p; wait $p
      """)
    #expect(execution.exit == .status(130))
    let process = runbook.text("pid").flatMap { Int32($0.prefix { $0.isNumber }) }
    #expect(process.map { kill($0, 0) } == -1)
  }

  @Test(
    "keys that a service has no use for are refused, and a service that nobody needs",
    arguments: [
      (
        #"{"name": "a", "run": "x", "service": true, "outputs": "o"}"#,
        "step 'a' is a service, which has no 'outputs': it runs beside the steps that need it"
      ),
      (
        #"{"name": "a", "run": "x", "service": true, "inputs": "o"}"#,
        "step 'a' is a service, which has no 'inputs': it runs beside the steps that need it"
      ),
      (
        #"{"name": "a", "run": "x", "service": true, "outputsOf": "o"}"#,
        "step 'a' is a service, which has no 'outputsOf': it runs beside the steps that need it"
      ),
      (
        #"{"name": "a", "run": "x", "service": true, "depfile": "o"}"#,
        "step 'a' is a service, which has no 'depfile': it runs beside the steps that need it"
      ),
      (
        #"{"name": "a", "run": "x", "service": true}"#,
        "step 'a' is a service, and no step is after it: it would run for nobody"
      ),
      (
        #"{"name": "a", "run": "x", "ready": "true"}"#,
        #"step 'a' has 'ready' and is no service; add '"service": true'"#
      ),
      (
        #"{"name": "a", "run": "x", "service": true, "ready": "true", "readyLine": "x"}"#,
        "step 'a' has 'ready' and 'readyLine': one or the other"
      ),
    ])
  func refused(step: String, sentence: String) {
    #expect(throws: (any Error).self) {
      do {
        _ = try PlanFile.plan(from: Array("[\(step)]".utf8))
      } catch {
        #expect("\(error)" == "line 1: \(sentence)")
        throw error
      }
    }
  }

  @Test("a text is found in output wherever the pieces are cut")
  func scanner() {
    func isFound(_ text: String, in pieces: [String]) -> Bool {
      var scanner = LineScanner(Array(text.utf8))
      return pieces.map { scanner.take($0.utf8) }.contains(true)
    }
    #expect(isFound("abcab", in: ["xxabca", "abc", "a", "b"]))
    #expect(!isFound("abcab", in: ["xxabca", "abc", "a", "c"]))
    #expect(isFound("x", in: ["", "ax"]) && !isFound("x", in: ["", "a"]))
  }
}

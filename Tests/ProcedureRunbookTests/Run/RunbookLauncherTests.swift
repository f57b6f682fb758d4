import Foundation
@testable import ProceduresProcess
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

/// The built program with a stand-in for the launcher of a cluster.
///
/// `launch NAME COMMAND…` waits a moment, gives the command a session of its own, writes its group
/// down under the name, does not listen to SIGTERM, and passes the status on. With a file `deaf`
/// the command does not listen either. `end SIGNAL NAME` is the other half: it sends a signal to
/// what was launched, once that has begun.
@Suite("runbook with a launcher", .hangLimit)
struct RunbookLauncherTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  private static let launcher = """
    cat > launch <<'END'
    #!/bin/sh
    name=$1; shift
    trap : TERM
    echo "$name" >> launched
    setsid sh -c 'test -e deaf && trap "" TERM; echo $$ > "group.$0"; exec "$@"' "$name" "$@" & pid=$!
    wait $pid; status=$?
    while [ $status -gt 128 ] && kill -0 $pid 2> /dev/null; do wait $pid; status=$?; done
    exit $status
    END
    cat > end <<'END'
    #!/bin/sh
    echo "$1" >> ended
    test -e no-cancel && { echo "no such cluster" >&2; exit 9; }
    # On a busy machine what was launched may not have begun.
    until test -s "group.$2"; do sleep 0.01; done
    kill -s $1 -- -$(cat group.$2)
    END
    chmod +x launch end

    """

  private static let hasSessions = FileManager.default.isExecutableFile(atPath: "/usr/bin/setsid")
  private static let options =
    "--launcher './launch {name}' --launcher-cancel './end {signal} {name}'"

  @Test("the launcher runs each command; its status and its delay are the step's")
  func statuses() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "a", "run": "echo \\"$A\\" in $(basename $(pwd)) > a; exit 5",
          "environment": {"A": "it's \\"so\\""}},
         {"name": "b", "run": "echo own", "launcher": "env X=1"}]
        """, Self.launcher + "exec $RUNBOOK -k --launcher './launch {name}' plan.json")
    #expect(execution.exit == .status(1))
    #expect(execution.output.contains("b | own"))
    #expect(execution.output.contains("failed: exited with status 5"))
    #expect(runbook.text("a")?.hasPrefix("it's \"so\" in RunbookTests-") == true)
    #expect(runbook.text("launched")?.hasPrefix("runbook-") == true)
  }

  @Test("a launcher that cannot be started is the step's failure")
  func missing() async throws {
    let execution = try await runbook.shell(
      plan: #"[{"name": "a", "run": "true"}]"#,
      "exec $RUNBOOK --launcher no-such-launcher plan.json")
    #expect(execution.exit == .status(1))
    #expect(execution.output.contains("no-such-launcher"))
  }

  @Test("a launcher without a cancel command gets SIGTERM, and SIGKILL when it does not listen")
  func stubborn() async throws {
    let execution = try await runbook.shell(
      plan: #"[{"name": "a", "run": "echo up > up; sleep 600; :", "timeout": 600}]"#,
      Self.launcher + """
        mkfifo up
        $RUNBOOK --launcher './launch {name}' --grace 0.2 plan.json & p=$!
        read x < up; kill -TERM $p; wait $p; status=$?
        kill -s KILL -- -$(cat group.*); exit $status
        """)
    #expect(execution.exit == .status(143))
    #expect(execution.output.contains("cancelled"))
  }

  @Test(
    "Ctrl-C runs the cancel command, once for each step, and the launcher ends by itself",
    .enabled(if: hasSessions, "needs setsid"))
  func cancel() async throws {
    let steps = (0..<3).map {
      // No `sleep`: a process that a shell has just forked loses a SIGTERM that the shell has a
      // trap for.
      #"{"name": "s\#($0)", "run": "trap 'touch cleaned\#($0); exit 4' TERM; echo up > up; while :; do read x < never; done"}"#
    }
    let execution = try await runbook.shell(
      plan: "[\(steps.joined(separator: ","))]",
      Self.launcher + """
        mkfifo up never; exec 3<> up
        $HEARING -j3 \(Self.options) --grace 600 plan.json & p=$!
        for i in 1 2 3; do read x <&3; done
        kill -INT $p; wait $p
        """)
    #expect(execution.exit == .status(130), "\(execution.output)")
    #expect(runbook.text("ended") == "TERM\nTERM\nTERM\n")
    for index in 0..<3 { #expect(runbook.hasFile("cleaned\(index)")) }
    #expect(execution.lines.last?.hasSuffix(": 3 cancelled") == true)
    try await expectGroupsGone()
  }

  @Test(
    "a timeout runs the cancel command, and runs it again to kill a step that does not listen",
    .enabled(if: hasSessions, "needs setsid"))
  func timeout() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "deaf", "run": "while :; do read x < never; done", "timeout": 2}]
        """,
      Self.launcher + "touch deaf; mkfifo never; exec $RUNBOOK \(Self.options) --grace 2 plan.json")
    #expect(execution.exit == .status(1))
    #expect(execution.output.contains("timed out: more than 2.00 s"))
    #expect(runbook.text("ended") == "TERM\nKILL\n")
    try await expectGroupsGone()
  }

  @Test(
    "a second Ctrl-C kills at once, by the cancel command as well",
    .enabled(if: hasSessions, "needs setsid"))
  func secondInterrupt() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "deaf", "run": "trap 'echo no > up' TERM; echo up > up; while :; do read x < never; done"}]
        """,
      Self.launcher + """
        mkfifo up never; exec 3<> up
        $HEARING \(Self.options) --grace 600 plan.json & p=$!
        read x <&3; kill -INT $p; read x <&3; kill -INT $p; wait $p
        """)
    #expect(execution.exit == .status(130))
    #expect(runbook.text("ended") == "TERM\nKILL\n")
    try await expectGroupsGone()
  }

  @Test(
    "a cancel command that fails is shown, and the launcher gets SIGTERM",
    .enabled(if: hasSessions, "needs setsid"))
  func failingCancel() async throws {
    let execution = try await runbook.shell(
      plan: #"[{"name": "a", "run": "echo up > up; sleep 600; :"}]"#,
      Self.launcher + """
        mkfifo up; touch no-cancel
        $HEARING \(Self.options) --grace 0.2 plan.json & p=$!
        read x < up; kill -INT $p; wait $p; status=$?
        kill -s KILL -- -$(cat group.*); exit $status
        """)
    #expect(execution.exit == .status(130))
    #expect(
      execution.output.contains("cancel command exited with status 9: no such cluster"),
      "\(execution.output)")
  }

  /// That nothing is left of what was launched.
  private func expectGroupsGone() async throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: runbook.directory.path)
      .filter { $0.hasPrefix("group.") }
    #expect(!files.isEmpty)
    for file in files {
      let group = try #require(runbook.text(file).flatMap { pid_t($0.dropLast()) })
      // What lost its parent is taken from the system's table by another process, in its own time.
      let processes = ProcessGroup(identifier: group)
      #expect(await eventually { processes.isGone })
    }
  }
}

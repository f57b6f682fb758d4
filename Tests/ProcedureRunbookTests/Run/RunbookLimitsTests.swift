import Foundation
import ProceduresProcess
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

/// The built program under the limits that a machine may set.
@Suite("runbook under limits", .hangLimit)
struct RunbookLimitsTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  private func plan(_ count: Int, _ run: String) -> String {
    let steps = (0..<count).map { #"{"name": "s\#($0)", "run": "\#(run)"}"# }
    return "[\(steps.joined(separator: ","))]"
  }

  /// Each test has a user of its own, also beside another run of the suite, so that nothing else
  /// counts.
  private func limited(to count: Int, user: Int, _ script: String) -> String {
    let user = user + 10 * (Int(getpid()) % 1_000)
    return """
      chmod 777 .; exec setpriv --reuid=\(user) --regid=\(user) --clear-groups sh -c '
        test -x "$RUNBOOK" || { echo unreachable; exit 77; }
        prlimit --pid $$ --nproc=\(count):\(count); \(script)'
      """
  }

  @Test(
    "with room for 40 processes a plan of 100 jobs at once runs by fewer, and says so",
    .enabled(
      if: RunbookExecutable.hasLimitedUser,
      "needs to be the superuser, and setpriv, to become a user whom the limit binds"))
  func processes() async throws {
    let execution = try await runbook.shell(
      plan: plan(40, "sleep 0.03; echo x | cat"),
      limited(to: 40, user: 61231, #"exec "$RUNBOOK" --jobs 100 plan.json"#))
    if RunbookExecutable.isSkipped(execution) { return }
    #expect(execution.exit == .status(0), "\(execution.output)")
    #expect(
      execution.errorOutput.contains("of 100 jobs at once, because of the limit on processes"))
    #expect(execution.lines.last?.contains(": 40 succeeded") == true)
  }

  @Test(
    "with room for no more processes a run still hears Ctrl-C",
    .enabled(
      if: RunbookExecutable.hasLimitedUser,
      "needs to be the superuser, and setpriv, to become a user whom the limit binds"))
  func deaf() async throws {
    // Each step takes what there is, and keeps it, and says so each time.
    let hungry = "exec 3> up; while :; do sleep 600 & echo >&3; done"
    // The signal comes when half of the room is taken, or when all steps have ended by themselves.
    // The script makes no process for that, since it may find no room either.
    let execution = try await runbook.shell(
      plan: plan(8, hungry),
      "mkfifo up; chmod 666 up; "
        + limited(
          to: 40, user: 61232,
          """
          "$RUNBOOK" --jobs 8 --grace 5 plan.json & p=$!
          exec 3< up; i=0; while [ $i -lt 12 ] && read x <&3; do i=$((i+1)); done
          kill -TERM $p; wait $p; exit $?
          """))
    if RunbookExecutable.isSkipped(execution) { return }
    #expect(execution.exit != .status(0))
    // By the first failure of a fork, or by the signal, but ended, with a table and nothing left.
    #expect(execution.lines.last?.contains("8 steps in ") == true, "\(execution.output)")
  }

  @Test(
    "with room for no process at all a run says so, and ends",
    .enabled(
      if: RunbookExecutable.hasLimitedUser,
      "needs to be the superuser, and setpriv, to become a user whom the limit binds"))
  func noRoom() async throws {
    for limit in 1...6 {
      let execution = try await runbook.shell(
        plan: plan(2, "true"),
        limited(to: limit, user: 61233, #"exec "$RUNBOOK" plan.json"#))
      if RunbookExecutable.isSkipped(execution) { return }
      #expect(execution.exit == .status(1), "\(limit): \(execution.output)")
      #expect((execution.errorOutput + execution.output).contains("ulimit -u"), "\(limit)")
    }
  }

  @Test(
    "a process of another user is not ended, and is named",
    .enabled(
      if: RunbookExecutable.hasLimitedUser,
      "needs to be the superuser, and setpriv, to run a program of another user"))
  func unreachable() async throws {
    let other =
      "./another --reuid=0 --regid=0 --clear-groups sh -c 'echo $$ > pid; echo up > up; exec sleep 600'"
    let execution = try await runbook.shell(
      plan: #"[{"name": "sudo", "run": "\#(other); true"}]"#,
      """
      mkfifo up; chmod 666 up; cp /usr/bin/setpriv another; chmod 4755 another
      \(limited(to: 4000, user: 61234,
        #"env --default-signal "$RUNBOOK" --grace 0.3 plan.json & p=$!; read x < up || exit 77; kill -TERM $p; wait $p"#)
        .replacing("exec setpriv", with: "setpriv"))
      status=$?; kill -9 $(cat pid); exit $status
      """)
    // Programs of another user may be forbidden here altogether.
    if RunbookExecutable.isSkipped(execution, unless: runbook.hasFile("pid")) { return }
    #expect(execution.exit == .status(143))
    #expect(
      execution.errorOutput.contains(
        /runbook: step 'sudo': process group [0-9]+ may not be signalled: it is another user's/),
      "\(execution.errorOutput)")
  }

  @Test("with room for 64 open files a plan of 100 jobs at once runs by fewer, and says so")
  func descriptors() async throws {
    let execution = try await runbook.shell(
      plan: plan(60, "sleep 0.03; echo x"),
      #"ulimit -n 64; exec "$RUNBOOK" --jobs 100 --logs logs plan.json"#)
    #expect(execution.exit == .status(0), "\(execution.output)")
    #expect(execution.errorOutput.contains("of 100 jobs at once, because of the limit on open"))
    #expect(execution.lines.last?.contains(": 60 succeeded") == true)
  }

  @Test("with room for hardly any open file a run says so, and ends")
  func noDescriptors() async throws {
    for limit in 4...24 {
      let execution = try await runbook.shell(
        plan: plan(2, "true"), #"ulimit -n \#(limit); exec "$RUNBOOK" plan.json"#)
      if execution.exit == .status(0) { continue }
      #expect(limit < 20 && execution.exit == .status(1), "\(limit): \(execution.errorOutput)")
      #expect(execution.errorOutput.contains("ulimit -n"), "\(limit): \(execution.errorOutput)")
    }
  }

  #if os(Linux)
    @Test(
      "runbook links no more of Foundation than the essentials, since the rest takes longer to load than to run"
    )
    func libraries() async throws {
      let execution = try await runbook.shell(plan: "[]", #"exec ldd "$RUNBOOK""#)
      guard execution.exit == .status(0), execution.output.contains(".so") else { return }
      let linked = execution.output.matches(of: /libFoundation[A-Za-z]*\.so/).map { String($0.0) }
      #expect(Set(linked).isSubset(of: ["libFoundationEssentials.so"]))
    }

    @Test("a hundred jobs at once take a few threads, whatever their number")
    func threads() async throws {
      // Each opens its pipe before it says so, and reads one byte.
      let waiting = "exec 3<> go; echo up > up; read x <&3"
      let counting = """
        exec 3<> up 4<> go; i=0; while [ $i -lt 100 ]; do read x <&3; i=$((i+1)); done; \
        ls /proc/$PPID/task | wc -l > count; \
        while [ $i -gt 0 ]; do echo >&4; i=$((i-1)); done
        """
      let execution = try await runbook.shell(
        plan: plan(100, waiting).dropLast() + #",{"name": "count", "run": "\#(counting)"}]"#,
        #"mkfifo up go; exec "$RUNBOOK" --jobs 101 plan.json"#)
      #expect(execution.exit == .status(0), "\(execution.output)")
      let count = try #require(runbook.text("count").flatMap { Int($0.dropLast()) })
      #expect(count <= JobLimit.mostThreads)
    }
  #endif

  @Test("room is divided by what a job needs, and there is always one")
  func division() {
    func jobs(_ processes: Int?, _ descriptors: Int?) -> Int {
      JobLimit(
        wanted: 100, processRoom: processes, descriptorRoom: descriptors, descriptorsPerJob: 2
      ).jobs
    }
    #expect(
      !JobLimit(wanted: 1, processRoom: 7, descriptorRoom: nil, descriptorsPerJob: 2).isEnough)
    #expect(jobs(nil, nil) == 100 && jobs(54, nil) == 10 && jobs(nil, 56) == 22)
    #expect(jobs(0, 0) == 1 && jobs(-5, nil) == 1 && jobs(100_000, 100_000) == 100)
  }
}

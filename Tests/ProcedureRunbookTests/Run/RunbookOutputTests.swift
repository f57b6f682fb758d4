import Foundation
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook
@testable import ProceduresProcess

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What becomes of the built program's output when its reader is slow, full, broken or gone.
@Suite("runbook's output", .hangLimit)
struct RunbookOutputTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  /// More than a pipe and what the display keeps together hold.
  private static let talkative = #"[{"name": "talk", "run": "seq 1 50000"}]"#

  @Test("two options that write one file are refused, by any path that leads to it")
  func oneFileTwice() async throws {
    let execution = try await runbook.shell(
      plan: #"[{"name": "a", "run": "touch ran"}]"#,
      """
      ln -s . here; ln -s later link; echo old > there; ln there hard
      try() { $RUNBOOK "$@" plan.json; echo "status $?"; }
      try --report r --junit ./r; try --report r --html here/r; try --trace link --junit later
      try --junit there --report hard; try --report plan.json; try --junit here/plan.json
      ls r later ran; cat there
      try -q --report /dev/null --junit /dev/null; try -q --report r --junit j
      """)
    #expect(
      execution.lines == Array(repeating: "status 2", count: 6) + ["old", "status 0", "status 0"],
      "\(execution.output)\(execution.errorOutput)")
    #expect(
      execution.errorOutput.contains(
        "runbook: '--report' and '--junit' write one file, 'r'; name another\n"))
    #expect(
      execution.errorOutput.contains(
        "runbook: '--report' would overwrite the plan 'plan.json'; name another file\n"),
      "\(execution.errorOutput)")
  }

  @Test("options that write a file of the plan are refused, before anything runs")
  func filesOfPlan() async throws {
    let execution = try await runbook.shell(
      plan: """
        {"include": "lib/more.json", "defaults": {"dotenv": ".env"},
         "steps": [{"name": "a", "run": "touch ran made", "inputs": ["in", "found/*"], "outputs": "made"},
          {"name": "b", "run": "touch c; echo c: > d", "directory": "lib", "outputs": "c", "depfile": "d"}]}
        """,
      """
      mkdir lib found; touch in found/x; echo A=1 > .env; ln -s lib link; ln in hard
      echo '[{"name": "more", "run": "true"}]' > lib/more.json
      try() { $RUNBOOK -q "$@" plan.json 2>&1; echo "status $?"; }
      try --report link/more.json; try --junit .env; try --html made; try --trace hard
      try --report link/c; try --report lib/d; try --report .runbook.log; try --report link/.runbook.jobs/x
      ls ran; cat in; try --report found/x
      """)
    let sentences = [
      "'--report' would overwrite the included plan 'link/more.json'",
      "'--junit' would overwrite the variables '.env' of step 'a'",
      "'--html' would overwrite the output 'made' of step 'a'",
      "'--trace' would overwrite the input 'hard' of step 'a'",
      "'--report' would overwrite the output 'link/c' of step 'b'",
      "'--report' would overwrite the output 'lib/d' of step 'b'",
      "'--report' would write a file of runbook itself, '.runbook.log'",
      "'--report' would write a file of runbook itself, 'link/.runbook.jobs/x'",
    ]
    #expect(
      execution.output
        == sentences.map { "runbook: \($0); name another file\nstatus 2\n" }.joined()
        + "status 0\n", "\(execution.output)\(execution.errorOutput)")
  }

  @Test("a report without a folder, or in the place of one, is refused before anything runs")
  func noFolder() async throws {
    let execution = try await runbook.shell(
      plan: #"[{"name": "a", "run": "touch ran"}]"#,
      """
      mkdir there; ln -s no/such link; touch file
      try() { $RUNBOOK -q "$@" plan.json 2>&1; echo "status $?"; }
      try --report no/such/r; try --html link; try --junit there; try --html new/; try --trace file/t
      ls ran; try --logs new --report new/r; ls new/r
      """)
    #expect(
      execution.output.replacing(#/ '/[^']*\/no'/#, with: " 'no'") == """
        runbook: '--report' cannot write 'no/such/r': there is no folder 'no/such'; make it first
        status 2
        runbook: '--html' cannot write 'link': there is no folder 'no'; make it first
        status 2
        runbook: '--junit' cannot write 'there': it is a folder; name a file in it
        status 2
        runbook: '--html' cannot write 'new/': it is a folder; name a file in it
        status 2
        runbook: '--trace' cannot write 'file/t': there is no folder 'file'; make it first
        status 2
        status 0
        new/r

        """, "\(execution.errorOutput)")
  }

  @Test("a full disk is a sentence and status 1", .enabled(if: hasFullDevice, "needs /dev/full"))
  func full() async throws {
    for arguments in [
      "plan.json", "-q --summary plan.json", "--help", "--graph plan.json", "-n plan.json",
    ] {
      let execution = try await runbook.shell(
        plan: #"[{"name": "talk", "run": "seq 1 1000"}]"#,
        "exec $RUNBOOK \(arguments) > /dev/full")
      #expect(execution.exit == .status(1), "\(arguments)")
      #expect(
        execution.errorOutput
          == "runbook: standard output cannot be written: No space left on device\n",
        "\(arguments)")
    }
  }

  private static var hasFullDevice: Bool { unsafe access("/dev/full", W_OK) == 0 }

  @Test("a closed standard output is a sentence and status 1, and the steps have run")
  func closed() async throws {
    let execution = try await runbook.shell(
      plan: #"[{"name": "a", "run": "echo x; touch ran"}]"#, "exec $RUNBOOK plan.json >&-")
    #expect(execution.exit == .status(1))
    #expect(execution.errorOutput.contains("standard output cannot be written"))
    #expect(runbook.hasFile("ran"))
  }

  @Test("a reader that went away is no failure")
  func gone() async throws {
    let execution = try await runbook.shell(
      plan: #"[{"name": "a", "run": "seq 1 20000; touch ran"}]"#,
      "{ $RUNBOOK plan.json; echo $? > status; } | head -n 1")
    #expect(execution.output == "started    a\n")
    #expect(runbook.text("status") == "0\n" && runbook.hasFile("ran"))
  }

  @Test("a terminal that is gone is a sentence and status 1, before the run or in it")
  func goneTerminal() async throws {
    for isGoneBefore in [true, false] {
      let terminal = try PseudoTerminal()
      // In a shell that leads no session: the terminal controls nothing, and takes nothing with it.
      let wait = isGoneBefore ? "echo ready; read x < go; " : "echo ready; "
      let execution = try await runbook.shell(
        plan: isGoneBefore
          ? #"[{"name": "a", "run": "touch ran"}]"#
          : #"[{"name": "a", "run": "read x < go; touch ran"}]"#,
        """
        rm -f go ran; mkfifo go; export TERM=xterm
        ( exec 3<> \(terminal.path); \(wait) $RUNBOOK plan.json >&3 ); exit $?
        """,
        onOutput: { text, _ in
          guard text == "ready\n" else { return }
          if !isGoneBefore { terminal.read(until: "0/1 steps, 1 running") }
          terminal.close()
          runbook.writePipe("go")
        })
      #expect(execution.exit == .status(1), "\(execution.output)")
      #expect(
        execution.errorOutput == "runbook: standard output cannot be written: Input/output error\n")
      #expect(runbook.hasFile("ran"))
    }
  }

  @Test("nothing is lost when standard output does not block")
  func nonBlocking() async throws {
    // A reader that sets the mode, which belongs to the pipe's end and so to the writer as well.
    let execution = try await runbook.shell(
      plan: Self.talkative,
      """
      mkfifo pipe
      { sleep 0.5; cat; } < pipe > copy &
      python3 -c 'import fcntl, os, sys
      flags = fcntl.fcntl(1, fcntl.F_GETFL)
      fcntl.fcntl(1, fcntl.F_SETFL, flags | os.O_NONBLOCK)
      os.execv(sys.argv[1], sys.argv[1:])' $RUNBOOK plan.json > pipe
      echo $? > status
      wait
      """)
    // Without Python there is nothing to set the mode with.
    guard !execution.errorOutput.contains("not found") else {
      print("skipped: python3 is missing for a test of runbook")
      return
    }
    #expect(runbook.text("status") == "0\n", "\(execution.errorOutput)")
    let lines = runbook.text("copy")?.split(separator: "\n") ?? []
    #expect(lines.count { $0.hasPrefix("talk | ") } == 50000)
    #expect(lines.last?.hasSuffix(": 1 succeeded") == true)
  }

  /// Blocks until no more fits into the pipe that a process writes to.
  private static func waitUntilFull(outputOf process: pid_t) {
    #if os(Linux)
      let pipe = unsafe open("/proc/\(process)/fd/1", O_WRONLY | O_NONBLOCK)
      defer { close(pipe) }
      var state = pollfd(fd: pipe, events: Int16(POLLOUT), revents: 0)
      while unsafe poll(&state, 1, 0) == 1 { usleep(1_000) }
    #else
      // No process can look at another one's pipe there.
      usleep(300_000)
    #endif
  }

  /// Blocks until a child of this process has ended, and leaves its status to who started it.
  private static func waitUntilGone(_ process: pid_t) -> Bool {
    var information = unsafe siginfo_t()
    let code = unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT)
    return code == 0 || errno == ECHILD
  }

  @Test("a reader that stops reading does not keep two Ctrl-C from ending everything")
  func stuckReader() async throws {
    let isGone = Gate()
    try runbook.makePipe("heard")
    let execution = try await runbook.run(
      plan: """
        [{"name": "deaf",
          "run": "trap 'echo heard > heard' TERM; echo $$ > pid; yes & wait; wait; sleep 600"}]
        """,
      "--grace", "600",
      onOutput: { _, process in
        // Reads no more until the program is gone.
        guard !isGone.isOpen, runbook.hasFile("pid") else { return }
        Self.waitUntilFull(outputOf: process)
        kill(process, SIGINT)
        // Two of one kind that are not yet taken are one.
        runbook.waitForPipe("heard")
        kill(process, SIGINT)
        if Self.waitUntilGone(process) { isGone.open() }
      })
    #expect(isGone.isOpen)
    #expect(execution.exit == .status(130))
    #expect(execution.errorOutput.contains("standard output was not read any more"))
    let group = try #require(runbook.text("pid").flatMap { pid_t($0.dropLast()) })
    #expect(ProcessGroup(identifier: group).isGone)
  }

  @Test("a reader that stops reading is waited for as long as the grace time after one Ctrl-C")
  func stuckReaderAfterOneInterrupt() async throws {
    let isGone = Gate()
    let execution = try await runbook.run(
      plan: #"[{"name": "loud", "run": "touch up; seq 1 100000000"}]"#, "--grace", "0.5",
      onOutput: { _, process in
        guard !isGone.isOpen, runbook.hasFile("up") else { return }
        Self.waitUntilFull(outputOf: process)
        kill(process, SIGTERM)
        if Self.waitUntilGone(process) { isGone.open() }
      })
    #expect(isGone.isOpen)
    #expect(execution.exit == .status(143))
  }

  @Test("a step's duration is measured to the end of its command, not of the reader")
  func durations() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "loud", "run": "seq 1 50000"}, {"name": "quick", "run": "echo $$ > quick"}]
        """,
      """
      $RUNBOOK -j2 --report report.json plan.json | {
        until [ -s quick ] && ! kill -0 $(cat quick) 2> /dev/null; do sleep 0.05; done
        sleep 2; cat > /dev/null
      }
      """)
    #expect(execution.exit == .status(0))
    let report = try #require(runbook.text("report.json"))
    let line = try #require(report.split(separator: "\n").first { $0.contains("\"quick\"") })
    func seconds(_ match: Regex<(Substring, Substring)>.Match?) throws -> Double {
      let text = try #require(match).1
      return try #require(Double(text))
    }
    let start = try seconds(line.firstMatch(of: /"start": ([0-9.]+)/))
    let duration = try seconds(line.firstMatch(of: /"duration": ([0-9.]+)/))
    let whole = try #require(
      report.matches(of: /"duration": ([0-9.]+)/).compactMap { Double($0.1) }.max())
    // The reader began two seconds after nothing was left of the step.
    #expect(start + duration < whole - 1, "\(report)")
  }

  @Test(
    "the board is drawn ten times a second at most on a terminal, however many steps end",
    .enabled(if: RunbookExecutable.hasTerminals, "needs 'script' of Linux"))
  func frames() async throws {
    let count = Rounds.isStress ? 5000 : 300
    let steps = (0..<count).map { #"{"name": "s\#($0)", "run": ":"}"# }
    let execution = try await runbook.terminal(plan: "[\(steps.joined(separator: ","))]", "-j4")
    #expect(execution.exit == .status(0))
    let seconds = try #require(
      execution.output.firstMatch(of: /[0-9]+ steps in (?:([0-9]+) min )?([0-9.]+) s/))
    let duration = (Double(seconds.1 ?? "0") ?? 0) * 60 + (Double(seconds.2) ?? 0)
    let frames = execution.output.matches(of: #//[0-9]+ steps, /#).count
    #expect(Double(frames) <= duration * 10 + 3)
    #expect(execution.output.contains("\(count) succeeded"))
  }

  @Test("--group-output shows the output of a step in one piece, when it has ended")
  func grouped() async throws {
    let talk = "for i in 1 2 3 4 5; do echo $i; sleep 0.02; done"
    let execution = try await runbook.run(
      plan: #"[{"name": "a", "run": "\#(talk)"}, {"name": "b", "run": "\#(talk)"}]"#,
      "-j2", "--group-output")
    let names = execution.lines.filter { $0.contains(" | ") }.map { $0.prefix(1) }
    #expect(names.count == 10 && Set(names.prefix(5)).count == 1)
  }

  @Test("--logs, --report and --junit write what happened, and names may contain anything")
  func reports() async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "a/b", "run": "echo one; echo two >&2", "group": "g"},
         {"name": "<bad>\\t\\"", "run": "printf 'no end & <'; exit 3", "after": "a/b"},
         {"name": "last", "run": "true", "after": "<bad>\\t\\""}]
        """, "--logs", "logs", "--report", "report.json", "--junit", "junit.xml")
    #expect(execution.exit == .status(1))
    #expect(runbook.text("logs/1-a_b.log") == "one\ntwo\n")
    #expect(runbook.text("logs/2-<bad>␉\".log") == "no end & <")
    let report = try JSONReader.read(try #require(runbook.text("report.json")).utf8)
    guard case .object(let members) = report.content,
      case .array(let steps)? = members.first(where: { $0.key == "steps" })?.value.content
    else { return #expect(Bool(false), "not a report") }
    #expect(steps.count == 3)
    let text = try #require(runbook.text("report.json"))
    #expect(text.contains(#""outcome": "failed", "reason": "exited with status 3""#))
    let junit = try #require(runbook.text("junit.xml"))
    #expect(junit.contains(#"tests="3" failures="1" skipped="1""#))
    #expect(junit.contains(#"<testcase name="a/b" classname="g""#))
    #expect(
      junit.contains(
        #"<failure message="failed: exited with status 3">no end &amp; &lt;</failure>"#))
  }

  @Test("--trace, --html and --summary say when each step ran, and what it waited for")
  func timeline() async throws {
    let execution = try await runbook.run(
      plan: """
        [{"name": "first", "run": "true"}, {"name": "flaky", "run": "exit 1", "retries": 1},
         {"name": "last </script>", "run": "true", "after": "first"}]
        """, "--keep-going", "--trace", "trace.json", "--html", "page.html", "--summary")
    #expect(execution.exit == .status(1))
    #expect(execution.output.contains("Critical path"))
    let trace = try JSONReader.read(try #require(runbook.text("trace.json")).utf8)
    guard case .object(let members) = trace.content,
      case .array(let events)? = members.first(where: { $0.key == "traceEvents" })?.value.content
    else { return #expect(Bool(false), "not a trace") }
    let names = events.compactMap { event -> String? in
      guard case .object(let members) = event.content,
        case .string("X")? = members.first(where: { $0.key == "ph" })?.value.content,
        case .string(let name)? = members.first(where: { $0.key == "name" })?.value.content
      else { return nil }
      return name
    }
    #expect(Set(["first", "flaky", "last </script>"]).isSubset(of: names))
    let page = try #require(runbook.text("page.html"))
    #expect(page.contains("first") && !page.contains("last </script>"))
    let failed = try await runbook.shell(
      plan: #"[{"name": "a", "run": "rmdir gone"}]"#,
      "mkdir gone; exec $RUNBOOK --html gone/page.html plan.json")
    #expect(failed.exit == .status(1))
    #expect(failed.errorOutput.contains("the page 'gone/page.html' cannot be written"))
  }

  @Test("a report or a log that cannot be written is a sentence and status 1")
  func unwritable() async throws {
    let plan = #"[{"name": "a", "run": "echo x"}]"#
    let report = try await runbook.shell(
      plan: #"[{"name": "a", "run": "rmdir gone"}]"#,
      "mkdir gone; exec $RUNBOOK --report gone/report.json plan.json")
    #expect(report.exit == .status(1))
    #expect(report.errorOutput.contains("'gone/report.json' cannot be written"))
    let log = try await runbook.shell(
      plan: plan, "mkdir -p logs/1-a.log; exec $RUNBOOK --logs logs plan.json")
    #expect(log.exit == .status(1))
    #expect(log.errorOutput.contains("the log 'logs/1-a.log' cannot be written: Is a directory"))
  }
}

/// The side of a terminal that a window would have.
private final class PseudoTerminal: Sendable {
  let path: String
  private let descriptor: Int32
  /// The side of the programs, which tells when no process has the other one.
  private let other: Int32

  init() throws {
    var (master, other): (Int32, Int32) = (-1, -1)
    try #require(unsafe openpty(&master, &other, nil, nil, nil) == 0)
    (descriptor, self.other) = (master, other)
    path = unsafe String(cString: try #require(unsafe ttyname(other)))
    // The steps must not have it.
    for descriptor in [master, other] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
  }

  /// Blocks until this was written to the terminal.
  func read(until text: String) {
    var seen = ""
    var piece = [UInt8](repeating: 0, count: 4096)
    while !seen.contains(text) {
      let count = unsafe systemRead(descriptor, &piece, piece.count)
      guard count > 0 else { return }
      seen += String(decoding: piece[..<count], as: UTF8.self)
    }
  }

  /// Returns when the terminal is gone: a process that another test is starting may have it a
  /// moment longer.
  func close() {
    systemClose(descriptor)
    var look = pollfd(fd: other, events: 0, revents: 0)
    while Int32(look.revents) & Int32(POLLHUP) == 0 { _ = unsafe poll(&look, 1, -1) }
    systemClose(other)
  }
}

// Under other names, since methods are called like them.

private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }

private func systemRead(
  _ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int
) -> Int {
  unsafe read(descriptor, bytes, count)
}

import Foundation
import ProceduresProcess
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

/// The built program on a terminal, and signals at any time.
@Suite(
  "runbook on a terminal", .hangLimit,
  .enabled(if: RunbookExecutable.hasTerminals, "needs 'script' of Linux"))
struct RunbookTerminalTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  @Test("a step that reads the terminal fails, and hangs nothing")
  func reading() async throws {
    let execution = try await runbook.terminal(
      plan: #"[{"name": "ask", "run": "read x < /dev/tty"}]"#)
    #expect(execution.exit == .status(1))
    #expect(execution.output.contains("/dev/tty"))
    #expect(execution.output.contains("failed: exited with status"))
  }

  @Test("terminal: a step has the terminal, one at a time, and nothing else is shown meanwhile")
  func terminalSteps() async throws {
    let ask =
      "mkdir lock; test -t 0 && test -t 1 && read x && sleep 0.3 && echo got-$x-by; rmdir lock"
    let execution = try await runbook.terminal(
      plan: """
        [{"name": "ask 1", "run": "\(ask)", "terminal": true},
         {"name": "ask 2", "run": "\(ask)", "terminal": true},
         {"name": "other", "run": "for i in 1 2 3; do echo other; sleep 0.1; done"}]
        """, "-j3", typing: #"printf 'bob\nann\n'"#)
    #expect(execution.exit == .status(0), "\(execution.output)")
    #expect(execution.output.contains("got-bob-by") && execution.output.contains("got-ann-by"))
    #expect(!execution.output.contains("File exists"))
  }

  @Test("terminal: where there is none, such a step runs as any other")
  func withoutTerminal() async throws {
    let execution = try await runbook.run(
      plan: #"[{"name": "a", "run": "test -t 0 || echo none", "terminal": true}]"#)
    #expect(execution.exit == .status(0))
    #expect(execution.output.contains("a | none"))
  }

  @Test("terminal: Ctrl-C in such a step ends the run as anywhere")
  func interruptedTerminalStep() async throws {
    try runbook.makePipe("asked")
    let execution = try await runbook.terminal(
      plan: """
        [{"name": "ask", "run": "echo up > asked; read x; touch never", "terminal": true},
         {"name": "next", "run": "touch next", "after": "ask"}]
        """,
      typing: #"read x < asked; sleep 0.3; printf '\003'; until test -e over; do sleep 0.02; done"#)
    #expect(execution.exit == .status(130), "\(execution.output)")
    #expect(!runbook.hasFile("never") && !runbook.hasFile("next"))
    #expect(execution.output.contains("next"))
  }

  @Test(
    "terminal: Ctrl-C and Ctrl-\\ in such a step end the run with the status of a shell, without another attempt",
    arguments: [("003", 130), ("034", 131)] as [(String, Int32)])
  func signalOfTerminal(key: String, status: Int32) async throws {
    for retries in [0, 1] {
      let runbook = try RunbookExecutable()
      try runbook.makePipe("asked")
      let execution = try await runbook.terminal(
        plan: """
          [{"name": "ask", "run": "echo x >> log; echo up > asked; read x; touch never", "terminal": true,
            "retries": \(retries)},
           {"name": "next", "run": "touch next", "after": "ask"}]
          """,
        typing:
          #"read x < asked; printf '\\#(key)'; until test -e over; do sleep 0.02; done"#)
      #expect(execution.exit == .status(status), "\(execution.output)")
      #expect(!runbook.hasFile("never") && !runbook.hasFile("next"))
      #expect(runbook.text("log") == "x\n")
      #expect(!execution.output.contains("again"), "\(execution.output)")
    }
  }

  @Test("terminal: where there is none, a status of 130 or 131 is a failure like others")
  func statusWithoutTerminal() async throws {
    for status in [130, 131] {
      let execution = try await runbook.run(
        plan: """
          [{"name": "a", "run": "exit \(status)", "terminal": true}, {"name": "b", "run": "touch b\(status)"}]
          """, "-k", "-j1")
      #expect(execution.exit == .status(1), "\(execution.output)")
      #expect(runbook.hasFile("b\(status)"))
    }
  }

  @Test(
    "a small terminal and wide names are no trouble",
    arguments: [(24, 12), (3, 80), (2, 8), (1, 1)])
  func small(rows: Int, columns: Int) async throws {
    let execution = try await runbook.terminal(
      plan: """
        [{"name": "日本語の長い名前です", "run": "sleep 0.2"},
         {"name": "a\\tb\\u001b[2Jc", "run": "sleep 0.2"}, {"name": "👨‍👩‍👧", "run": "sleep 0.2"}]
        """, "-j3", size: (rows, columns))
    #expect(execution.exit == .status(0))
    #expect(!execution.output.contains("\u{1B}[2J"))
    #expect(execution.output.contains("3 succeeded"))
    // It never goes up by more lines than there are.
    for match in execution.output.matches(of: /\u{1B}\[([0-9]+)A/) {
      #expect((Int(match.1) ?? 0) < max(rows, 2))
    }
  }

  @Test("Ctrl-\\ kills at once, with a table and the cursor")
  func quit() async throws {
    let execution = try await runbook.shell(
      plan: #"[{"name": "deaf", "run": "trap '' TERM; echo up > up; sleep 600 & wait"}]"#,
      """
      mkfifo up
      $HEARING --grace 600 plan.json & p=$!
      read x < up
      kill -QUIT $p; wait $p
      """)
    #expect(execution.exit == .status(131))
    #expect(execution.lines.last?.contains("1 step in ") == true)
  }

  @Test("Ctrl-\\ cancels what it kills: it has not failed, and what has not begun did not start")
  func quitIsNoFailure() async throws {
    let steps = (1...60).map {
      #"{"name": "\#($0)", "run": "echo up > up; exec sleep 600", "retries": 1}"#
    }
    for count in [1, 60] {
      let runbook = try RunbookExecutable()
      let execution = try await runbook.shell(
        plan: "[\(steps.joined(separator: ","))]",
        """
        mkfifo up
        $HEARING -j60 plan.json & p=$!
        exec 3<>up; i=0; while [ $i -lt \(count) ]; do read x <&3; i=$((i + 1)); done
        kill -QUIT $p; wait $p
        """)
      #expect(execution.exit == .status(131))
      #expect(!execution.output.contains("again") && !execution.output.contains("failed"))
      func names(after word: String) -> Set<Substring> {
        Set(
          execution.lines.filter { $0.hasPrefix(word) }.compactMap { $0.split(separator: " ").last }
        )
      }
      let started = names(after: "started")
      #expect(started.count >= count && started.isDisjoint(with: names(after: "not run")))
    }
  }

  @Test("Ctrl-Z stops the steps as well, and they go on with it")
  func stop() async throws {
    let execution = try await runbook.shell(
      plan: #"[{"name": "a", "run": "echo $$ > pid; echo up > up; read x < go"}]"#,
      """
      state() { sed 's/.*) //' /proc/$1/stat | cut -c1; }
      mkfifo up go
      $RUNBOOK plan.json & p=$!
      read x < up
      kill -TSTP $p
      while [ "$(state $p)" != T ]; do sleep 0.02; done
      while [ "$(state $(cat pid))" != T ]; do sleep 0.02; done
      kill -CONT $p; echo go > go; wait $p
      """)
    #expect(execution.exit == .status(0), "\(execution.output)")
  }

  @Test("a signal at any moment around the start leaves no folder and no hidden cursor")
  func early() async throws {
    for delay in ["0", "0.005", "0.01", "0.02", "0.04", "0.08"] {
      let execution = try await runbook.shell(
        plan: "[]",
        """
        mkdir -p folder; export TMPDIR=$PWD/folder
        $RUNBOOK --demo & p=$!
        sleep \(delay); kill -TERM $p; wait $p; status=$?
        ls folder
        exit $status
        """)
      #expect(execution.exit == .status(143), "after \(delay)")
      // ThreadSanitizer has a file there as well, for an instant before `main`.
      let left = try FileManager.default.contentsOfDirectory(
        atPath: runbook.directory.appending(path: "folder").path
      ).filter { !$0.hasPrefix("tsan.") }
      #expect(left.isEmpty, "after \(delay)")
    }
  }
}

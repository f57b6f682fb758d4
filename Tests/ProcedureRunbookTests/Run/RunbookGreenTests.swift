import Foundation
import ProcedureTestSupport
import ProceduresProcess
import Testing

@testable import ProcedureRunbook

/// What the built program calls done is done: on a full disk, killed, twice at once, edited
/// meanwhile.
@Suite("runbook: green means done", .hangLimit)
struct RunbookGreenTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  private func shell(_ plan: String, _ script: String) async throws -> RunbookExecutable.Execution {
    try await runbook.shell(plan: plan, script)
  }

  // MARK: Outputs

  @Test("a step that ends well without its outputs has failed, by their names")
  func missingOutputs() async throws {
    let execution = try await shell(
      """
      [{"name": "make", "run": "echo x >> tries; touch there", "outputs": ["a.bin", "there", "b.bin"],
        "retries": 1},
       {"name": "use", "run": "touch used", "after": "make"}]
      """, "exec $RUNBOOK plan.json")
    #expect(execution.exit == .status(1))
    #expect(
      execution.output.contains("failed: it ended well and did not make 'a.bin', 'b.bin'"),
      "\(execution.output)")
    #expect(runbook.text("tries") == "x\nx\n" && !runbook.hasFile("used"))
  }

  @Test("a step whose launcher ended well has made its outputs, or has failed")
  func missingOutputsOfLauncher() async throws {
    let execution = try await shell(
      #"[{"name": "make", "run": "touch out", "outputs": "out", "launcher": "true"}]"#,
      "exec $RUNBOOK plan.json")
    #expect(execution.exit == .status(1))
    #expect(execution.output.contains("did not make 'out'"))
  }

  @Test(
    "outputs of a launched step may be seen a moment later",
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setsid"), "needs setsid"))
  func lateOutputs() async throws {
    // The output of the second one is there after the run.
    let run =
      "setsid sh -c 'read x < go; eval $WAIT; touch $N' > /dev/null 2>&1 & echo up > go"
    let execution = try await shell(
      """
      [{"name": "far", "run": "\(run)", "outputs": "far", "launcher": "env N=far",
        "environment": {"WAIT": "sleep 0.2"}},
       {"name": "here", "run": "\(run)", "outputs": "here", "environment": {"N": "here", "WAIT": "read x < over"}}]
      """, "mkfifo go over; $RUNBOOK -k -j1 plan.json; echo up > over")
    #expect(execution.output.contains("succeeded  far"), "\(execution.output)")
    #expect(execution.output.contains("failed     here: it ended well and did not make 'here'"))
  }

  // MARK: Lines

  @Test("a list of lines ends at the first that fails, and a text as its shell ends it")
  func failingLine() async throws {
    let execution = try await shell(
      """
      [{"name": "list", "run": ["A=1", "if false; then", "  exit 7", "fi", "ls no-such-file", "touch list$A"]},
       {"name": "text", "run": "false\\ntouch text"},
       {"name": "elsewhere", "run": ["false", "touch elsewhere"], "launcher": "env"}]
      """, "exec $RUNBOOK -k -j1 plan.json")
    #expect(execution.exit == .status(1))
    #expect(execution.lines.last?.hasSuffix(": 1 succeeded, 2 failed") == true)
    #expect(!runbook.hasFile("list1") && runbook.hasFile("text") && !runbook.hasFile("elsewhere"))
  }

  // MARK: No plan

  @Test("without a plan it says what it looked for, and runs nothing; --demo runs the built-in one")
  func noPlan() async throws {
    for arguments in [[], ["--junit", "j.xml"], ["build"], ["--list"], ["--dry-run"]] {
      let execution = try await runbook.run(arguments)
      #expect(execution.exit == .status(2), "\(arguments)")
      #expect(execution.output.isEmpty)
      #expect(execution.errorOutput.contains("there is no runbook.json in '/"))
      #expect(execution.errorOutput.contains("no file 'build'") == (arguments == ["build"]))
    }
    #expect(!runbook.hasFile("j.xml"))
    let demo = try await runbook.run(["--demo", "--list"])
    #expect(demo.exit == .status(0) && demo.output.contains("report"))
  }

  // MARK: Inputs

  /// Fails, and makes its output all the same, unless `ok` is there.
  private let making =
    #"[{"name": "make", "run": "echo x >> log; cat in > out; test -e ok", "inputs": "in", "outputs": "out"}]"#

  @Test("an input that is edited while its step runs makes it run again")
  func editedInput() async throws {
    let execution = try await shell(
      """
      [{"name": "make", "run": "x=$(cat in); test -e first || { echo up > up; read y < go; }; touch first; echo $x > out",
        "inputs": "in", "outputs": "out"}]
      """,
      """
      mkfifo up go; echo 1 > in
      $RUNBOOK -q plan.json > first.txt & p=$!
      read x < up; echo 2 > in; echo go > go; wait $p
      cat first.txt >&2
      $RUNBOOK plan.json | tail -n 1; cat out
      exec $RUNBOOK plan.json
      """)
    #expect(
      execution.lines.prefix(2).first?.hasSuffix("1 succeeded") == true, "\(execution.output)")
    #expect(execution.lines.dropFirst().first == "2")
    #expect(execution.lines.last?.hasSuffix("1 not needed") == true)
    #expect(
      execution.errorOutput.contains(
        "make | the input 'in' was changed while it ran: the next run makes it again\n"))
  }

  @Test(
    "an input that is taken out of the plan, or an older one in its place, makes a step run again")
  func otherInputs() async throws {
    let execution = try await shell(
      #"[{"name": "a", "run": "touch out", "inputs": ["in", "more"], "outputs": "out"}]"#,
      """
      echo 1 > in; touch more; $RUNBOOK -q plan.json > text
      sed 's/, "more"//' plan.json > less.json
      $RUNBOOK less.json | tail -n 1; $RUNBOOK less.json | tail -n 1
      echo 2 > old; touch -t 200001010000 old; mv old in
      $RUNBOOK less.json | tail -n 1; $RUNBOOK less.json | tail -n 1
      """)
    let ends = execution.lines.map { $0.split(separator: ": ").last ?? "" }
    #expect(ends == ["1 succeeded", "1 not needed", "1 succeeded", "1 not needed"])
  }

  @Test(
    "a folder is an input with all that is in it, but for what the step makes")
  func folders() async throws {
    let execution = try await shell(
      #"[{"name": "a", "run": "mkdir -p src/made; date > src/made/out", "inputs": "./src/", "outputs": ["src/made", "src/made/out"]}]"#,
      """
      run() { $RUNBOOK plan.json | tail -n 1; }
      mkdir -p src/deep; echo 1 > src/deep/file; ln -s .. src/circle
      run; run
      echo 22 > src/deep/file; run; run
      echo 3 > src/deep/new; run
      rm src/deep/new; run
      mv src/deep/file src/deep/renamed; run; run
      """)
    let ends = execution.lines.map { $0.split(separator: ": ").last ?? "" }
    let (ran, not) = (Substring("1 succeeded"), Substring("1 not needed"))
    #expect(ends == [ran, not, ran, not, ran, ran, ran, not], "\(execution.errorOutput)")
  }

  @Test("contents decide: a file of the same size and time is another one, and a newer one is not")
  func contents() async throws {
    let execution = try await shell(
      #"[{"name": "a", "run": "touch -t 200001010000 out", "inputs": "in", "outputs": "out"}]"#,
      """
      run() { $RUNBOOK plan.json | tail -n 1; }
      echo aaa > in; touch -t 200001010000 in; run; run
      echo bbb > in; touch -t 200001010000 in; run
      echo ccc > other; touch -t 200001010000 other; mv other in; run
      touch in; run; cp in other; mv other in; run
      """)
    let ends = execution.lines.map { $0.split(separator: ": ").last ?? "" }
    let (ran, not) = (Substring("1 succeeded"), Substring("1 not needed"))
    #expect(ends == [ran, not, ran, ran, not, not])
  }

  // MARK: The journal

  // A program with ThreadSanitizer writes a file before `main`, and needs terabytes of addresses:
  // it has no limits.
  @Test(
    "a step whose start cannot be noted does not run, and never counts as done",
    .disabled(if: Rounds.isSanitized, "not with ThreadSanitizer"))
  func unwritableJournal() async throws {
    let execution = try await shell(
      making,
      """
      touch in
      ( ulimit -f 0; $RUNBOOK plan.json ); echo "status $?"
      ls
      mv .runbook.log away; mkdir .runbook.log
      $RUNBOOK plan.json; echo "status $?"
      rmdir .runbook.log
      # It fails and makes its output; then nothing can be noted, and it is not taken for done.
      $RUNBOOK -q plan.json; echo "status $?"
      chmod a-w .runbook.log
      ( ulimit -f 0; $RUNBOOK -q plan.json ); echo "status $?"
      touch ok; $RUNBOOK -q plan.json; echo "status $?"
      """)
    let statuses = execution.lines.filter { $0.hasPrefix("status") }.map { $0.suffix(1) }
    #expect(statuses == ["1", "1", "1", "1", "0"], "\(execution.output)")
    #expect(execution.output.contains("its start cannot be noted: "))
    #expect(
      execution.output.contains("File too large") && execution.output.contains("Is a directory"))
    #expect(runbook.text("log") == "x\nx\n")
  }

  @Test("a success that cannot be noted is said, with status 1, and the step runs again")
  func unnotedSuccess() async throws {
    // The step takes the room away that the line about its start had.
    let execution = try await shell(
      #"[{"name": "fill", "run": "echo x >> log; prlimit --pid $PPID --fsize=1:1; touch out", "outputs": "out"}]"#,
      """
      command -v prlimit > /dev/null || exit 77
      $RUNBOOK plan.json; echo "status $?"; $RUNBOOK -q plan.json; echo "status $?"
      """)
    if RunbookExecutable.isSkipped(execution) { return }
    #expect(execution.output.contains("status 1"))
    #expect(execution.errorOutput.contains(".runbook.log' cannot be written: File too large"))
    #expect(runbook.text("log") == "x\nx\n")
  }

  @Test("a line that was not written to its end takes no other line with it")
  func tornLine() async throws {
    for torn in [
      "don", #"done\t0\tmake\t1\t2\t3\t0\t1"#, #"started\t0\tmake\t1\t-\tother"#, #"\t"#, "%",
    ] {
      let execution = try await shell(
        making,
        """
        rm -f out ok log .runbook.log; touch in ok; $RUNBOOK -q plan.json > text
        printf '\(torn)' >> .runbook.log
        rm out ok; $RUNBOOK -q plan.json > text; echo "status $?"
        $RUNBOOK -q plan.json; echo "status $?"
        """)
      let statuses = execution.lines.filter { $0.hasPrefix("status") }
      #expect(statuses == ["status 1", "status 1"], "\(torn): \(execution.output)")
    }
  }

  @Test("a journal that has grown is written anew, and says the same")
  func grownJournal() async throws {
    let execution = try await shell(
      making,
      """
      touch in ok; $RUNBOOK -q plan.json > text
      i=0; while [ $i -lt 200 ]; do echo; printf 'run\\t1\\tx\\t\\n'; i=$((i+1)); done >> .runbook.log
      $RUNBOOK plan.json | tail -n 1; wc -l < .runbook.log; ls -A
      """)
    #expect(execution.lines.first?.hasSuffix("1 not needed") == true)
    let count = execution.lines.dropFirst().first.flatMap { Int($0) }
    #expect((5...12).contains(count ?? 0) && !execution.output.contains(".new"))
  }

  // MARK: Two at once

  private let waiting =
    #"[{"name": "wait", "run": "echo x >> log; echo $$ > pid; echo up > up$N; read x < go$N; touch out", "outputs": "out"}]"#

  @Test("a second run in one directory names the first one, or waits for it with --wait")
  func twoRuns() async throws {
    let execution = try await shell(
      waiting,
      """
      mkfifo up go
      $RUNBOOK -q plan.json > first & p=$!
      read x < up
      $RUNBOOK plan.json 2> said; echo "status $?"
      grep -c "process $p runs a plan in '$(pwd -P)'" said
      # What writes nothing, and what only looks, needs no lock.
      echo '[{"name": "none", "run": "true"}]' > none.json; $RUNBOOK -q none.json > /dev/null && $RUNBOOK -n plan.json > /dev/null && echo free
      mkfifo err; $RUNBOOK --wait plan.json > second 2> err & q=$!
      read said < err; echo "$said"; echo go > go
      wait $p; echo "status $?"; wait $q; echo "status $?"; tail -n 1 second
      """)
    #expect(
      execution.lines.dropLast(4) == ["status 1", "1", "free"], "\(execution.output)")
    #expect(execution.output.contains("runbook: waiting: process "))
    #expect(execution.lines.suffix(3).prefix(2) == ["status 0", "status 0"])
    #expect(execution.lines.last?.hasSuffix("1 not needed") == true)
    #expect(runbook.text("log") == "x\n")
  }

  @Test("a run that waits for another one ends when its --timeout is over, and names that one")
  func timeoutOfWait() async throws {
    let execution = try await shell(
      waiting,
      """
      mkfifo up go
      $RUNBOOK -q plan.json & p=$!
      read x < up
      $RUNBOOK --wait --timeout 0.5 plan.json 2> said; echo "status $?"
      grep -c "^runbook: process $p runs a plan in '$(pwd -P)', and the 0.50 s of --timeout are over$" said
      echo go > go; wait $p; echo "status $?"
      """)
    #expect(
      execution.lines == ["status 1", "1", "status 0"],
      "\(execution.output)\(runbook.text("said") ?? "")")
    #expect(runbook.text("log") == "x\n")
  }

  @Test("a run that waits for another one reads the plan that this leaves, and what it includes")
  func planOfFormerRun() async throws {
    let execution = try await shell(
      #"[{"name": "hold", "run": "echo up > up; read x < go; cp new.json plan.json; touch out", "outputs": "out"}]"#,
      """
      mkfifo up go err; mkdir sub
      echo '[{"name": "part", "run": "touch part", "outputs": "part"}]' > sub/part.json
      echo '{"include": "sub/part.json", "steps": [{"name": "new", "run": "touch new", "outputs": "new"}]}' > new.json
      $RUNBOOK -q plan.json & p=$!
      read x < up
      $RUNBOOK --wait plan.json > second 2> err & q=$!
      read said < err; echo go > go
      wait $p; echo "status $?"; wait $q; echo "status $?"; ls new sub/part; tail -n 1 second
      """)
    #expect(
      execution.lines.prefix(4) == ["status 0", "status 0", "new", "sub/part"],
      "\(execution.output)\(execution.errorOutput)")
    #expect(execution.lines.last?.hasSuffix(": 2 succeeded") == true)
  }

  @Test("a run that waits for another one finds the files and variables that this has made")
  func filesOfFormerRun() async throws {
    let execution = try await shell(
      """
      {"defaults": {"dotenv": ".env"},
       "steps": [{"name": "use", "run": "echo $MODE \\"$@\\" > out", "inputs": "in/*", "outputs": "out"}]}
      """,
      """
      mkfifo up go err; mkdir in; touch in/a; echo MODE=old > .env
      echo '[{"name": "make", "run": "echo up > up; read x < go; touch in/b; echo MODE=new > .env; touch made",
              "outputs": "made"}]' > other.json
      $RUNBOOK -q other.json & p=$!
      read x < up
      $RUNBOOK -q --wait plan.json 2> err & q=$!
      read said < err; echo go > go
      wait $p; wait $q; echo "status $?"; cat out
      """)
    #expect(
      execution.lines == ["status 0", "new in/a in/b"],
      "\(execution.output)\(execution.errorOutput)")
  }

  @Test("kill -9 gives the lock back, and the step that was stopped runs again")
  func killed() async throws {
    let execution = try await shell(
      waiting,
      """
      # Pipes of its own for each run: what is killed may hold one open for a moment.
      mkfifo up1 go1 up2 go2; export N=1
      $RUNBOOK -q plan.json > first & p=$!
      read x < up1; kill -9 $p; wait $p; kill -9 -$(cat pid); touch out; N=2
      $RUNBOOK -q plan.json > second & p=$!
      read x < up2; echo go > go2; wait $p; echo "status $?"
      """)
    #expect(execution.output.contains("status 0"), "\(execution.output)\(execution.errorOutput)")
    #expect(runbook.text("log") == "x\nx\n")
  }

  @Test("steps and services that a killed run has started end with it")
  func endOfKilled() async throws {
    // A pipe ends when the last program has ended that has it open.
    let execution = try await shell(
      """
      [{"name": "a", "run": "exec 5> end; echo up; exec sleep 600"},
       {"name": "s", "run": "exec 5> end; echo up; exec sleep 600", "service": true},
       {"name": "b", "run": "exec 5> end; echo up; exec sleep 600", "after": "s"}]
      """,
      """
      mkfifo said end
      cat end & c=$!
      $RUNBOOK -j2 plan.json > said & p=$!
      # A program whose output it has is no longer just being started.
      n=0; while [ $n -lt 3 ] && read -r line; do case $line in *"| up"*) n=$((n + 1)) ;; esac; done < said
      kill -9 $p; wait $p; wait $c; echo over
      """)
    #expect(execution.lines == ["over"], "\(execution.output)\(execution.errorOutput)")
  }

  @Test(
    "a step of a killed run can write as much as it likes while it cleans up",
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "needs /proc"))
  func outputOfKilled() async throws {
    let clean =
      "i=0; while [ $i -lt 20000 ]; do echo cleaning up; i=$((i + 1)); done; echo all > cleaned; exit"
    let execution = try await shell(
      #"[{"name": "a", "run": "exec 5> end; trap '\#(clean)' TERM; { trap - TERM; echo up; exec sleep 600; } & wait"}]"#,
      """
      mkfifo said end
      cat end & c=$!
      $RUNBOOK --grace 600 plan.json > said & p=$!
      while read -r line; do case $line in *"| up"*) break ;; esac; done < said
      kill -9 $p; wait $p; wait $c; cat cleaned
      """)
    #expect(execution.lines == ["all"], "\(execution.output)\(execution.errorOutput)")
  }

  @Test(
    "a program that a killed run was about to start has the lock for a moment more: that is no second run"
  )
  func lockOfACopy() async throws {
    let execution = try await shell(
      #"[{"name": "a", "run": "touch out", "outputs": "out"}]"#,
      """
      command -v flock > /dev/null || { echo "no flock here"; exit 0; }
      exec 9>> .runbook.log; flock 9; sleep 0.2 & exec 9>&-
      $RUNBOOK -q plan.json && test -e out
      """)
    #expect(execution.exit == .status(0), "\(execution.errorOutput)")
  }

  // MARK: Signals

  @Test("SIGINT and SIGQUIT that were ignored stay so, and SIGTERM ends it")
  func ignoredSignals() async throws {
    let plan = #"[{"name": "a", "run": "echo up > up; read x < go"}]"#
    let execution = try await shell(
      plan,
      """
      mkfifo up go; trap '' INT QUIT
      $RUNBOOK plan.json & p=$!
      read x < up; kill -INT $p; kill -QUIT $p; sleep 0.2; echo go > go; wait $p; echo "status $?"
      $RUNBOOK plan.json & p=$!
      read x < up; kill -TERM $p; wait $p; echo "status $?"
      """)
    let statuses = execution.lines.filter { $0.hasPrefix("status") }
    #expect(statuses == ["status 0", "status 143"], "\(execution.output)")
  }

  // MARK: Looking before

  @Test("--dry-run: what comes after all steps runs if one of them does")
  func dryRunAtTheEnd() async throws {
    let execution = try await shell(
      """
      [{"name": "make", "run": "cp in out", "inputs": "in", "outputs": "out"},
       {"name": "end", "run": "cp out last", "inputs": "out", "outputs": "last", "always": true}]
      """,
      """
      echo 1 > in; $RUNBOOK -q plan.json; $RUNBOOK -n plan.json; echo 2 > in; $RUNBOOK -n --explain plan.json
      """)
    #expect(
      execution.output == """
        2 steps are up to date
        1. make
           runs: 'in' is another than the last time
           $ cp in out
        2. end, always
           runs: 'make' runs before
           $ cp out last

        """)
  }

  @Test("--dry-run says what would run, --explain why, and --force runs what is up to date")
  func dryRun() async throws {
    let execution = try await shell(
      """
      [{"name": "make", "run": "cat in > out; echo x >> log", "inputs": "in", "outputs": "out", "group": "g"},
       {"name": "use", "run": "cat out > last", "inputs": "out", "outputs": "last", "after": "g"},
       {"name": "apart", "run": "touch apart", "outputs": "apart"}]
      """,
      """
      echo 1 > in; $RUNBOOK -q plan.json > text
      $RUNBOOK -n plan.json; echo --
      rm out; $RUNBOOK -n --explain plan.json; echo --; $RUNBOOK --explain plan.json | grep runs; echo --
      $RUNBOOK --force plan.json | tail -n 1; wc -l < log
      """)
    let parts = execution.output.components(separatedBy: "--\n")
    #expect(parts.count == 4)
    #expect(parts[0] == "3 steps are up to date\n")
    #expect(
      parts[1] == """
        1. make [g]
           runs: 'out' is not there
           $ cat in > out; echo x >> log
        2. use, after g
           runs: 'g' runs before
           $ cat out > last
        1 step is up to date

        """)
    // It is made as it was, so nothing that reads it runs.
    #expect(parts[2] == "make | runs: 'out' is not there\n")
    #expect(parts[3].contains(": 3 succeeded\n") && parts[3].hasSuffix("3\n"))
  }

  // MARK: The order

  @Test(
    "who reads a file comes after who makes it; a file of two steps is a mistake; folders are made")
  func files() async throws {
    let execution = try await shell(
      """
      [{"name": "use", "run": "cat deep/er/x > y", "inputs": "deep/er/x", "outputs": "y"},
       {"name": "part", "run": "ls tree/a > z", "inputs": "tree/a", "outputs": "z"},
       {"name": "make", "run": "echo 1 > deep/er/x; mkdir tree; touch tree/a", "outputs": ["./deep//er/x", "tree/"]}]
      """,
      """
      $RUNBOOK -j3 plan.json; echo "status $?"; $RUNBOOK --graph plan.json | grep -c -e '-->'
      sed 's/"z"/"deep\\/er\\/x"/' plan.json > twice.json; $RUNBOOK twice.json; echo "status $?"
      """)
    #expect(execution.output.contains("status 0\n2\n") && execution.output.contains("status 2"))
    #expect(
      execution.errorOutput.contains(
        "line 3: './deep//er/x' is an output of two steps, 'part' and 'make'"),
      "\(execution.errorOutput)")
  }

  @Test("-j1 keeps the order of the plan, after a failure too")
  func oneJob() async throws {
    let execution = try await shell(
      """
      [{"name": "a", "run": "echo a >> log; exit 1"}, {"name": "c", "run": "echo c >> log", "after": "b"},
       {"name": "b", "run": "echo b >> log; touch out", "outputs": "out"}, {"name": "d", "run": "echo d >> log"},
       {"name": "e", "run": "echo e >> log", "after": "d"}, {"name": "f", "run": "echo f >> log"}]
      """, "exec $RUNBOOK -j1 -k plan.json")
    #expect(execution.exit == .status(1))
    #expect(runbook.text("log") == "a\nb\nc\nd\ne\nf\n")
  }

  @Test("a retry is said when it happens, at the end of its step, in the table and in JUnit")
  func retries() async throws {
    let execution = try await shell(
      """
      [{"name": "second", "run": "test -e ok && exit 0; touch ok; exit 4", "retries": 5},
       {"name": "never", "run": "exit 3", "retries": 1}]
      """, "exec $RUNBOOK -k -j1 --junit j.xml plan.json")
    #expect(
      execution.output.contains("again      second: exited with status 4, in attempt 1 of 6\n"))
    #expect(execution.output.contains("succeeded  second, in attempt 2 ("))
    #expect(execution.output.contains("never  failed: exited with status 3, 2 attempts "))
    #expect(
      runbook.text("j.xml")?.matches(of: /<property name="attempts" value="2"\/>/).count == 2)
  }

  @Test("many steps that are up to date are one line, without a procedure; the rest runs")
  func manyUpToDate() async throws {
    let count = Rounds.size(1_000, otherwise: 200)
    let steps = (0..<count).map { index in
      let inputs = index % 10 == 0 ? "in" : "o\(index - 1)"
      return
        #"{"name": "s\#(index)", "run": "touch o\#(index)", "inputs": "\#(inputs)", "outputs": "o\#(index)"}"#
    }
    let execution = try await shell(
      "[\(steps.joined(separator: ","))]",
      """
      touch in; $RUNBOOK -q plan.json > text
      $RUNBOOK plan.json; rm o\(count - 5); $RUNBOOK plan.json | tail -n 1; $RUNBOOK -n plan.json
      """)
    #expect(execution.lines.count == 3, "\(execution.output)")
    #expect(execution.lines.first?.hasSuffix(": \(count) not needed") == true)
    // Those after it read what it was before.
    #expect(execution.lines[1].hasSuffix(": 1 succeeded, \(count - 1) not needed"))
    #expect(execution.lines.last == "\(count) steps are up to date")
  }

  // MARK: The system

  #if os(Linux)
    @Test(
      "without /proc the command line is what was written",
      .enabled(if: geteuid() == 0, "needs to be the superuser, to hide it"))
    func noProc() async throws {
      let execution = try await shell(
        #"[{"name": "a", "run": "touch ran"}]"#,
        """
        unshare -m true || exit 77
        unshare -m sh -c 'mount -t tmpfs none /proc && exec $RUNBOOK --dry-run plan.json'
        """)
      if RunbookExecutable.isSkipped(execution) { return }
      #expect(execution.exit == .status(0) && execution.output == "1. a\n   $ touch ran\n")
      #expect(!runbook.hasFile("ran"))
    }

    @Test(
      "with little memory it works, or says so; SIGTERM ends it in any case",
      .disabled(if: Rounds.isSanitized, "not with ThreadSanitizer"))
    func memory() async throws {
      let execution = try await shell(
        #"[{"name": "a", "run": "sleep 600"}, {"name": "b", "run": "sleep 600"}]"#,
        """
        for limit in 60000 120000 180000 200000 250000 2000000; do
          ( ulimit -v $limit; exec $RUNBOOK -j2 --grace 0.5 plan.json > text 2>&1 ) & p=$!
          sleep 0.5; kill -TERM $p; wait $p; echo "status $?"
        done
        """)
      // A library that does not even load ends with 127, and one that finds no memory by a signal.
      let statuses = execution.lines.compactMap { Int($0.dropFirst(7)) }
      #expect(statuses.count == 6 && statuses.last == 143, "\(execution.output)")
      #expect(statuses.allSatisfy { $0 != 0 && $0 != 137 })
    }
  #endif
}

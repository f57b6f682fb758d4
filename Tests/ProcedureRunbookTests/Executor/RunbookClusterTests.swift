import Foundation
import ProcedureTestSupport
import ProceduresProcess
import Testing

@testable import ProcedureRunbook

/// The built program with a stand-in for a cluster.
@Suite(
  "runbook with a cluster", .hangLimit,
  .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setsid"), "needs setsid"))
struct RunbookClusterTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  private func shell(_ plan: String, _ script: String) async throws -> RunbookExecutable.Execution {
    try await runbook.shell(plan: plan, StandInCluster.script + script)
  }

  private func calls(_ command: String) -> Int {
    (runbook.text("cluster/calls") ?? "").split(separator: "\n").count { $0.hasPrefix(command) }
  }

  @Test(
    "a step is a job with its name, weights, variables and options; its output and status are the step's"
  )
  func jobs() async throws {
    let execution = try await shell(
      """
      {"defaults": {"executor": "slurm", "executorOptions": "--partition=\\"$WHERE\\""},
       "steps": [{"name": "a b%", "run": "echo \\"$A\\" in $(basename $(pwd)); echo x > made/a", "directory": "sub",
                  "outputs": "made/a", "cpu": 2, "memory": "1.5G", "timeout": 90,
                  "environment": {"A": "it's \\"so\\"", "WHERE": "long queue"}},
                 {"name": "bad", "run": ["false", "echo never"], "after": "a b%"},
                 {"name": "here", "run": "echo own $PPID", "executor": "local", "group": "g"}]}
      """, "mkdir sub; exec $RUNBOOK -k --executor slurm --poll 0.2 plan.json")
    #expect(execution.exit == .status(1))
    #expect(execution.output.contains("a b% | it's \"so\" in sub\n"), "\(execution.output)")
    #expect(execution.output.contains("a b% | slurm: job 101\n"))
    #expect(execution.output.contains("failed     bad: exited with status 1"))
    #expect(!execution.output.contains("never"))
    #expect(runbook.text("sub/made/a") == "x\n" && calls("sbatch") == 2)
    let call = try #require(runbook.text("cluster/calls")?.split(separator: "\n").first)
    #expect(
      call.contains("--job-name=a b% ") && call.contains("--cpus-per-task=2 --mem=1536M --time=3 ")
        && call.contains("--no-requeue") && call.hasSuffix("--partition=long queue"), "\(call)")
    // Nothing is left behind.
    #expect(!runbook.hasFile(".runbook.jobs"))
    // What is done is done: nothing is handed in for it again.
    _ = try await runbook.shell(
      plan: runbook.text("plan.json") ?? "",
      "PATH=$PWD/bin:$PATH CLUSTER=$PWD/cluster $RUNBOOK --poll 0.2 'a b%'")
    #expect(calls("sbatch") == 2)
  }

  @Test("a job that ends well without its outputs has failed")
  func missingOutputs() async throws {
    let execution = try await shell(
      #"[{"name": "a", "run": "true", "outputs": "none", "executor": "slurm"}]"#,
      "exec $RUNBOOK --poll 0.2 plan.json")
    #expect(execution.output.contains("it ended well and did not make 'none'"))
  }

  @Test("a refusal by sbatch is the step's failure, in its words; retries hand in again")
  func refused() async throws {
    let execution = try await shell(
      #"[{"name": "a", "run": "true", "executor": "slurm", "retries": 1}]"#,
      "echo 'Batch job submission failed: Invalid account' > cluster/refuse; exec $RUNBOOK --poll 0.2 plan.json"
    )
    #expect(execution.exit == .status(1) && calls("sbatch") == 2)
    #expect(
      execution.output.contains(
        "failed     a: sbatch exited with status 1: sbatch: error: Batch job submission failed: Invalid account"
      ),
      "\(execution.output)")
  }

  @Test("why jobs wait is said, and no more of them are in the line than --queued allows")
  func line() async throws {
    let execution = try await shell(
      """
      {"defaults": {"executor": "slurm"},
       "steps": [{"name": "a {n}", "each": {"n": ["1", "2", "3", "4"]}, "run": "echo $n >> ran"}]}
      """,
      """
      echo PartitionConfig > cluster/full
      $RUNBOOK --poll 0.2 --queued 2 plan.json > out & p=$!
      until grep -q 'a 2 | slurm: it waits' out; do sleep 0.05; done
      ls -d cluster/1* | wc -l; rm cluster/full; wait $p; status=$?; cat out; exit $status
      """)
    #expect(execution.exit == .status(0), "\(execution.output)")
    #expect(execution.output.contains("a 1 | slurm: it waits, because of PartitionConfig\n"))
    #expect(execution.lines.first?.trimmingCharacters(in: .whitespaces) == "2")
    #expect(runbook.text("ran")?.count == 8)
  }

  @Test(
    "a job whose time is up can clean up, and is killed if it does not listen",
    arguments: [(trap: "touch cleaned; exit 4", grace: "600"), (trap: "", grace: "0.5")])
  func timeouts(trap: String, grace: String) async throws {
    // A run that is killed leaves the job, so that the next one meets a job that has got ready, and
    // began long ago.
    let execution = try await shell(
      """
      [{"name": "a", "run": "trap '\(trap)' TERM; echo ready; while test -e plan.json; do sleep 0.02; done",
        "executor": "slurm", "timeout": 600}]
      """,
      """
      $RUNBOOK --poll 0.2 plan.json > first & p=$!
      until grep -q 'a | ready' first; do sleep 0.02; done
      kill -KILL $p; wait $p 2> /dev/null; touch -d '-700 seconds' .runbook.jobs/*.began
      exec $RUNBOOK --poll 0.2 --grace \(grace) plan.json
      """)
    #expect(execution.exit == .status(1))
    #expect(execution.output.contains("timed out  a: more than"), "\(execution.output)")
    let calls = runbook.text("cluster/calls") ?? ""
    #expect(runbook.hasFile("cleaned") == !trap.isEmpty)
    #expect(calls.contains("--signal=KILL --batch --full") == trap.isEmpty, "\(calls)")
  }

  @Test("Ctrl-C withdraws what waits and ends what runs, in two calls, or twice two")
  func interrupt() async throws {
    let execution = try await shell(
      """
      {"defaults": {"executor": "slurm"},
       "steps": [{"name": "runs", "run": "trap 'touch cleaned; exit 4' TERM; touch up; while test -e plan.json; do sleep 0.02; done"},
                 {"name": "full", "run": "until test -e up; do sleep 0.02; done; touch cluster/full",
                  "executor": "local"},
                 {"name": "a {n}", "each": {"n": ["1", "2", "3"]}, "run": "true", "after": "full"}]}
      """,
      """
      $HEARING --poll 0.2 plan.json > out & p=$!
      until grep -q 'a 3 | slurm: job' out; do sleep 0.05; done
      kill -INT $p; wait $p; status=$?; cat out; exit $status
      """)
    #expect(execution.exit == .status(130), "\(execution.output)")
    #expect(runbook.hasFile("cleaned") && calls("scancel") <= 4)
    #expect(execution.lines.last?.contains("1 cancelled, 3 not run") == true, "\(execution.output)")
    #expect(!runbook.hasFile(".runbook.jobs"))
  }

  @Test("a killed run leaves its jobs; the next one follows them and hands in nothing twice")
  func killed() async throws {
    let execution = try await shell(
      """
      {"defaults": {"executor": "slurm"},
       "steps": [{"name": "a", "run": "echo begin; read x < go; echo x >> ran", "outputs": "ran"},
                 {"name": "b", "run": "echo x >> b"},
                 {"name": "c", "run": "cat ran > c", "inputs": "ran", "outputs": "c"}]}
      """,
      """
      mkfifo go
      $RUNBOOK --poll 0.2 plan.json > first & p=$!
      until grep -q 'a | begin' first && test -e b; do sleep 0.02; done
      kill -KILL $p; wait $p 2> /dev/null
      $RUNBOOK --poll 0.2 plan.json > out & p=$!
      until grep -q 'found again' out; do sleep 0.02; done
      echo go > go; wait $p; status=$?; cat out; exit $status
      """)
    #expect(execution.exit == .status(0), "\(execution.output)")
    #expect(execution.output.contains(/a \| slurm: job \d+, found again\n/))
    #expect(execution.output.contains("a | begin\n"))
    #expect(runbook.text("ran") == "x\n" && runbook.text("c") == "x\n")
  }

  @Test(
    "Ctrl-C while the cluster does not answer names the job that it leaves, and the next run follows it",
    arguments: ["hangs", "away"])
  func interruptWithoutAnswer(trouble: String) async throws {
    let execution = try await shell(
      #"[{"name": "a", "run": "echo x >> ran; read x < go", "executor": "slurm"}]"#,
      """
      mkfifo go
      $RUNBOOK --poll 0.2 plan.json > first & p=$!
      until test -e ran && grep -q 'slurm: job 101' first; do sleep 0.02; done
      kill -KILL $p; wait $p 2> /dev/null; touch cluster/\(trouble)
      for again in 1 2; do
        # Not the question of the run before, which may come late: this run would not hear the signal yet.
        export TURN=$again
        $HEARING --poll 0.2 --grace 0.5 plan.json > out & p=$!
        until grep -q "squeue $again" cluster/calls; do sleep 0.02; done
        kill -INT $p; wait $p; echo "status $?"; grep -c 'a | slurm: job 101 may still run' out
      done
      rm cluster/\(trouble); $RUNBOOK --poll 0.2 plan.json > out & p=$!
      until grep -q 'job 101, found again' out; do sleep 0.02; done; echo go > go; wait $p
      """)
    #expect(execution.exit == .status(0), "\(execution.output)\(execution.errorOutput)")
    // Given up by the run itself: not by what ends a run that is stuck, which says so.
    #expect(execution.output == "status 130\n1\nstatus 130\n1\n", "\(execution.output)")
    #expect(!execution.errorOutput.contains("given up"))
    #expect(runbook.text("ran") == "x\n" && !runbook.hasFile(".runbook.jobs"))
  }

  @Test("the next run finds a job by its key when a run was killed before sbatch had answered")
  func killedWhileHandingIn() async throws {
    let execution = try await shell(
      #"[{"name": "a", "run": "read x < go; echo x >> ran", "executor": "slurm"}]"#,
      """
      mkfifo go; touch cluster/deaf
      $RUNBOOK --poll 0.2 plan.json > first & p=$!
      until test -e cluster/taken; do sleep 0.02; done
      kill -KILL $p; wait $p 2> /dev/null; rm cluster/deaf
      $RUNBOOK --poll 0.2 plan.json > out & p=$!
      until grep -q 'found again' out; do sleep 0.02; done
      echo go > go; wait $p; status=$?; cat out; exit $status
      """)
    #expect(execution.exit == .status(0), "\(execution.output)")
    #expect(runbook.text("ran") == "x\n" && calls("sbatch") == 1)
  }

  @Test("a killed run's job of another command is ended before the new one is handed in")
  func otherCommand() async throws {
    let execution = try await shell(
      #"[{"name": "a", "run": "while test -e plan.json; do sleep 0.02; done; echo OLD", "executor": "slurm"}]"#,
      """
      $RUNBOOK --poll 0.2 plan.json > first & p=$!
      until grep -q 'started' first; do sleep 0.02; done
      kill -KILL $p; wait $p 2> /dev/null
      sed -i 's/while test -e plan.json; do sleep 0.02; done; echo OLD/cat cluster\\/101\\/state/' plan.json
      exec $RUNBOOK --poll 0.2 --grace 0.5 plan.json
      """)
    #expect(execution.exit == .status(0), "\(execution.output)")
    #expect(execution.output.contains("a | slurm: job 102\n"))
    #expect(execution.output.contains("a | CANCELLED\n"))
  }

  @Test(
    "a job that ends while the cluster cannot be asked ends the step; a job that is lost fails it")
  func away() async throws {
    let execution = try await shell(
      """
      {"defaults": {"executor": "slurm"},
       "steps": [{"name": "a", "run": "touch cluster/away; echo x > a"},
                 {"name": "b", "run": "rm cluster/away; rm -r cluster/102; kill -KILL $PPID $$", "after": "a"}]}
      """, "exec $RUNBOOK --poll 0.2 plan.json")
    #expect(execution.exit == .status(1))
    #expect(execution.output.contains("succeeded  a"), "\(execution.output)")
    #expect(
      execution.output.contains("failed     b: slurm job 102: job 102 is not known any more"),
      "\(execution.output)")
  }

  @Test("a job with the number of one that a killed run has left is not taken for it, nor ended")
  func recycledNumber() async throws {
    for other in ["", "; sed -i 's/read x/read  x/' plan.json"] {
      let execution = try await shell(
        #"[{"name": "a", "run": "test -e out || read x < go; echo x > out", "executor": "slurm"}]"#,
        """
        rm -rf cluster/* out first go .runbook.*; mkfifo go
        $RUNBOOK --poll 0.2 plan.json > first & p=$!
        until grep -q 'job 101' first; do sleep 0.02; done
        kill -KILL $p; wait $p 2> /dev/null
        until test "$(cat cluster/101/state)" = RUNNING; do sleep 0.02; done
        kill -KILL -$(cat cluster/101/group)
        # The controller has begun to count anew, and gave the number to somebody else.
        echo 'somebody else' > cluster/101/comment; echo RUNNING > cluster/101/state; touch out\(other)
        $RUNBOOK --poll 0.2 plan.json; status=$?; cat cluster/101/state; exit $status
        """)
      #expect(execution.exit == .status(0), "\(execution.output)\(execution.errorOutput)")
      #expect(execution.output.contains("a | slurm: job 102\n") && calls("scancel") == 0)
      #expect(execution.lines.last == "RUNNING")
    }
  }

  @Test("a step whose job of an earlier run is still there does not run here beside it")
  func besideItsJob() async throws {
    let execution = try await shell(
      #"[{"name": "a", "run": "echo x >> ran; read x < go"}, {"name": "b", "run": "true"}]"#,
      """
      mkfifo go; echo slow > cluster/full
      $RUNBOOK --executor slurm --poll 0.2 plan.json > first & p=$!
      until grep -q 'a | slurm: job' first; do sleep 0.02; done
      kill -KILL $p; wait $p 2> /dev/null
      $RUNBOOK -k plan.json; touch cluster/away; $RUNBOOK -k plan.json
      rm cluster/away cluster/full; until test -e ran; do sleep 0.02; done
      $RUNBOOK -k plan.json > while; grep -c 'a: slurm job 10. of an earlier run still is there' while
      echo go > go; until test "$(cat cluster/1*/state | sort -u)" = COMPLETED; do sleep 0.02; done
      ( echo go > go ) & exec $RUNBOOK plan.json
      """)
    #expect(execution.exit == .status(0), "\(execution.output)\(execution.errorOutput)")
    #expect(
      execution.output.contains(
        /failed     a: slurm job 10\d of an earlier run still is there for it; cancel that job, or follow it with '--executor slurm'/
      ), "\(execution.output)")
    #expect(
      execution.output.contains(/slurm job 10\d may still run for it: squeue exited with status 1/),
      "\(execution.output)")
    #expect(execution.output.contains("\n1\n"), "\(execution.output)")
    #expect(runbook.text("ran") == "x\nx\n" && !runbook.hasFile(".runbook.jobs"))
  }

  @Test("a job that is followed again keeps its start: its duration, and when its time is up")
  func keptStart() async throws {
    let execution = try await shell(
      """
      {"defaults": {"executor": "slurm"},
       "steps": [{"name": "long", "run": "echo begin; while test -e plan.json; do sleep 0.02; done", "timeout": 60},
                 {"name": "done", "run": "read x < go"}]}
      """,
      """
      mkfifo go
      $RUNBOOK --poll 0.2 plan.json > first & p=$!
      until grep -q 'long | begin' first && test $(ls .runbook.jobs/*.began | wc -l) = 2; do sleep 0.02; done
      kill -KILL $p; wait $p 2> /dev/null; echo go > go
      until ls .runbook.jobs/*.status 2> /dev/null; do sleep 0.02; done
      now=$(date +%s)
      touch -d @$((now - 600)) .runbook.jobs/*.began; touch -d @$((now - 599)) .runbook.jobs/*.status
      exec $RUNBOOK -k --poll 0.2 --grace 0.5 --report r.json plan.json
      """)
    #expect(execution.exit == .status(1))
    #expect(
      execution.output.contains(/timed out  long: more than 1 min 00 s \(1\d min \d/),
      "\(execution.output)")
    // The time between the two marks; their clock goes in ticks, of ten milliseconds at most.
    #expect(
      execution.output.contains(/succeeded  done \((?:0\.99|1\.0\d) s\)/), "\(execution.output)")
    #expect(runbook.text("r.json")?.contains(#""start": -"#) == true)
  }

  @Test("nobody else can read the files of jobs")
  func folderMode() async throws {
    let execution = try await shell(
      #"[{"name": "a", "run": "stat -c %a .runbook.jobs", "executor": "slurm"}]"#,
      "umask 0; $RUNBOOK --poll 0.2 plan.json; mkdir -m 777 .runbook.jobs; exec $RUNBOOK --poll 0.2 plan.json"
    )
    #expect(execution.lines.count { $0 == "a | 700" } == 2, "\(execution.output)")
  }

  @Test("complaints are shown at once, also quiet and with grouped output")
  func complaints() async throws {
    for option in ["-q", "--group-output", "-q --group-output"] {
      let execution = try await shell(
        #"[{"name": "a", "run": "true", "executor": "slurm"}]"#,
        """
        echo PartitionConfig > cluster/full; touch cluster/away
        $RUNBOOK \(option) --poll 0.2 plan.json > out & p=$!
        until grep -q 'slurm: squeue exited with status 1: .*Unable to contact' out; do sleep 0.02; done
        rm cluster/away; until grep -q 'a | slurm: it waits, because of PartitionConfig' out; do sleep 0.02; done
        rm cluster/full; wait $p
        """)
      #expect(execution.exit == .status(0), "\(execution.output)")
    }
  }

  @Test("sacct is asked for a job that squeue has forgotten, where there is accounting")
  func accounting() async throws {
    let execution = try await shell(
      """
      {"defaults": {"executor": "slurm"},
       "steps": [{"name": "a", "run": "echo '101|NODE_FAIL' > cluster/accounts; rm -r cluster/101; kill -KILL $PPID $$"},
                 {"name": "b", "run": "echo '102|CANCELLED by 0' > cluster/accounts; rm -r cluster/102; kill -KILL $PPID $$",
                  "after": "a", "always": true}]}
      """, "exec $RUNBOOK -k --poll 0.2 plan.json")
    #expect(execution.exit == .status(1) && calls("sacct") > 1)
    #expect(
      execution.output.contains("failed     a: slurm job 101: NODE_FAIL"), "\(execution.output)")
    #expect(execution.output.contains("failed     b: slurm job 102: CANCELLED"))
  }

  @Test(
    "jobs in the line cost one process with few threads, and one question for all",
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/task"), "needs /proc"))
  func loginNode() async throws {
    // Handing in takes a tenth of a second each.
    let count = Rounds.isStress ? 300 : 30
    let execution = try await shell(
      """
      [{"name": "q {n}", "each": {"n": [\((0..<count).map { "\"\($0)\"" }.joined(separator: ","))]}, "run": "true",
        "executor": "slurm"}]
      """,
      """
      touch cluster/closed
      $HEARING -q --poll 5 --queued \(count) plan.json & p=$!
      until test "$(ls -d cluster/[1-9]* 2> /dev/null | wc -l)" = \(count); do sleep 0.1; done
      ls /proc/$p/task | wc -l; grep VmHWM /proc/$p/status
      # A command of the cluster may be at work just now.
      until test "$(ps --ppid $p -o pid= | wc -l)" = 0; do sleep 0.02; done; touch none
      kill -INT $p; wait $p
      """)
    #expect(execution.exit == .status(130), "\(execution.output) \(execution.errorOutput)")
    #expect(runbook.hasFile("none") && calls("sbatch") == count && calls("scancel") <= 4)
    let numbers = execution.output.matches(of: /\d+/).prefix(2).compactMap { Int($0.output) }
    // The second one in kilobytes.
    #expect(numbers.count == 2 && numbers[0] <= 24, "\(execution.output)")
    if !Rounds.isSanitized { #expect(numbers[1] < 50_000, "\(execution.output)") }
  }

  @Test("a cluster costs one question for all jobs, and no process waits")
  func many() async throws {
    let execution = try await shell(
      """
      [{"name": "q {n}", "each": {"n": [\((0..<20).map { "\"\($0)\"" }.joined(separator: ","))]}, "run": "true",
        "executor": "slurm"}]
      """,
      """
      echo Priority > cluster/full
      $RUNBOOK -q --poll 5 plan.json & p=$!
      until test "$(ls -d cluster/1* 2> /dev/null | wc -l)" = 20; do sleep 0.1; done
      # A command of the cluster may be at work just now.
      until test "$(ps --ppid $p -o pid= | wc -l)" = 0; do sleep 0.02; done; touch none
      rm cluster/full; wait $p
      """)
    #expect(execution.exit == .status(0), "\(execution.output) \(execution.errorOutput)")
    #expect(runbook.hasFile("none") && calls("sbatch") == 20 && calls("squeue") < 20)
  }
}

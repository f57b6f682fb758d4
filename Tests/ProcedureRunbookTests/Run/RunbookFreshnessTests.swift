import Foundation
import ProceduresProcess
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

/// The rule for what is up to date, with the built program. Random plans are in `.ci/freshness`.
@Suite("runbook: what is up to date", .hangLimit)
struct RunbookFreshnessTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  /// What each run says at its end, or what the script prints besides.
  private func ends(_ plan: String, _ script: String) async throws -> [String] {
    let execution = try await runbook.shell(
      plan: plan, "run() { $RUNBOOK \"$@\" plan.json | tail -n 1; }\n" + script)
    // Without how long it took.
    return execution.lines.map { line in
      line.firstMatch(of: /^\d+ steps? in [^:]*: (.*)$/).map { String($0.1) } ?? line
    }
  }

  // MARK: The record

  @Test("a step that failed runs again under another name, and after its journal was deleted")
  func failedAndRenamed() async throws {
    let plan =
      #"[{"name": "a", "run": "echo half > out; test -e ok", "inputs": "in", "outputs": "out"}]"#
    let ends = try await ends(
      plan,
      """
      touch in; run > text; touch ok; sed -i 's/"a"/"b"/' plan.json; run; run
      rm ok; touch x; echo > in; run > text; touch ok; rm .runbook.log; run; run
      sed -i 's/half/whole/; s/"b"/"c"/' plan.json; run; cat out
      sed -i 's/"c"/"d"/' plan.json; run
      """)
    #expect(
      ends == [
        "1 succeeded", "1 not needed", "1 succeeded", "1 not needed", "1 succeeded", "whole",
        "1 not needed",
      ])
  }

  @Test("an included plan has one record, whichever plan includes it")
  func twoRoots() async throws {
    let ends = try await ends(
      "[]",
      """
      mkdir common app1 app2
      echo '{"steps":[{"name":"lib","inputs":"in","outputs":"lib.o","run":"cat in > lib.o; echo v1 >> lib.o"}]}' > common/lib.json
      echo 1 > common/in
      for a in app1 app2; do
        echo '{"include":"../common/lib.json","steps":[{"name":"app","inputs":"../common/lib.o","outputs":"app","run":"cp ../common/lib.o app"}]}' > $a/runbook.json
      done
      at() { $RUNBOOK -C $1 | tail -n 1; }
      at app1; at app2; at app1
      sed -i s/v1/v2/ common/lib.json; at app1; at app2; at app1
      sed -i s/v2/v1/ common/lib.json; at app1; sed -i s/v1/v2/ common/lib.json; at app2; tail -n 1 app2/app
      """)
    #expect(
      ends == [
        "2 succeeded", "1 succeeded, 1 not needed", "2 not needed",
        "2 succeeded", "1 succeeded, 1 not needed", "2 not needed",
        "2 succeeded", "1 succeeded, 1 not needed", "v2",
      ])
  }

  @Test(
    "two plans in one directory with steps of one name are both up to date, if the steps have outputs"
  )
  func twoPlans() async throws {
    let ends = try await ends(
      "[]",
      """
      echo x > in
      for p in a b; do
        echo "[{\\"name\\": \\"build\\", \\"inputs\\": \\"in\\", \\"outputs\\": \\"$p.out\\", \\"run\\": \\"cp in $p.out\\"}, {\\"name\\": \\"test\\", \\"inputs\\": \\"$p.out\\", \\"run\\": \\"test -s $p.out\\"}]" > $p.json
      done
      for i in 1 2; do for p in a b; do $RUNBOOK $p.json | tail -n 1; done; done
      """)
    let again = "1 succeeded, 1 not needed"
    #expect(ends == ["2 succeeded", "2 succeeded", again, again])
  }

  @Test("a step with inputs and no outputs is up to date when it succeeded with them")
  func withoutOutputs() async throws {
    let ends = try await ends(
      #"[{"name": "test", "run": "echo x >> log; grep -q good in", "inputs": "in"}]"#,
      "echo good > in; run; run; echo bad > in; run; run; echo good > in; run; run; wc -l < log")
    #expect(
      ends == [
        "1 succeeded", "1 not needed", "1 failed", "1 failed", "1 succeeded", "1 not needed", "4",
      ])
  }

  @Test("a step without outputs runs again when another command, variable or plan was in between")
  func withoutOutputsInTurn() async throws {
    let ends = try await ends(
      """
      {"parameters": {"v": "1", "ok": "true"},
       "steps": [{"name": "deploy", "run": "echo blue $v > live; $ok", "inputs": "in"}]}
      """,
      """
      last() { run "$@"; cat live; }
      touch in; last; last v=2; last; last
      sed -i s/blue/green/ plan.json; last; sed -i s/green/blue/ plan.json; last; last
      run ok=false > text; run; run
      sed s/blue/red/ plan.json > other.json; $RUNBOOK other.json > text; last; last
      sed -i 's/"in"}/"in", "outputs": "live"}/; s/blue/gold/' plan.json; last
      sed -i 's/, "outputs": "live"//; s/gold/blue/' plan.json; last; last
      """)
    let (again, done) = ("1 succeeded", "1 not needed")
    #expect(
      ends == [
        again, "blue 1", again, "blue 2", again, "blue 1", done, "blue 1",
        again, "green 1", again, "blue 1", done, "blue 1",
        again, done, again, "blue 1", done, "blue 1",
        again, "gold 1", again, "blue 1", done, "blue 1",
      ])
  }

  @Test("a step without outputs says with --explain what ran in between")
  func withoutOutputsExplained() async throws {
    let execution = try await runbook.shell(
      plan: """
        {"parameters": {"v": "1"}, "steps": [{"name": "test", "run": "test $v != 3", "inputs": "in"}]}
        """,
      """
      touch in; $RUNBOOK plan.json > text
      for v in 2 3 1; do $RUNBOOK plan.json v=$v --explain | grep -m 1 -o 'runs: .*'; done
      sed 's/test $v/test x$v/' plan.json > other.json
      $RUNBOOK other.json --explain | grep -m 1 -o 'runs: .*'
      """)
    let variables = "runs: its variables are others than the last time"
    #expect(
      execution.lines == [
        variables, variables, "runs: it did not end well the last time",
        "runs: its command or its directory is another than the last time",
      ])
  }

  @Test("a plan from a pipe has the records of its directory")
  func piped() async throws {
    let ends = try await ends(
      """
      [{"name": "a", "run": "cat in > out", "inputs": "in", "outputs": "out"},
       {"name": "folder", "run": "mkdir -p made", "outputs": "made"},
       {"name": "inner", "run": "touch made/x", "outputs": "made/x"}]
      """,
      """
      pipe() { $RUNBOOK - < plan.json | tail -n 1; }
      echo 1 > in; pipe; pipe; run; echo 2 > in; pipe; cat out
      """)
    #expect(
      ends == ["3 succeeded", "3 not needed", "3 not needed", "1 succeeded, 2 not needed", "2"])
  }

  @Test("a file has one name, whatever way to it the plan says")
  func ways() async throws {
    let ends = try await ends(
      """
      [{"name": "a", "run": "cat in >> log", "inputs": ["sub/../in", "sub/../log"], "outputs": "log"},
       {"name": "b", "run": "ls > list", "inputs": "sub/..", "outputs": "./sub/../list", "after": "a"}]
      """, "mkdir sub; touch in; run; run; run")
    #expect(ends == ["2 succeeded", "2 not needed", "2 not needed"])
  }

  @Test("files that a step makes in a folder that it reads do not count, nor does its depfile")
  func depfileInFolder() async throws {
    let ends = try await ends(
      """
      [{"name": "cc", "run": "cat src/m.c > src/m.o; echo 'm: src/m.c src' > src/m.d", "inputs": "src",
        "outputs": "src/m.o", "depfile": "src/m.d"}]
      """, "mkdir src; echo 1 > src/m.c; run; run; echo 2 > src/new; run; run")
    #expect(ends == ["1 succeeded", "1 not needed", "1 succeeded", "1 not needed"])
  }

  @Test("a journal of another form counts for nothing, and this is said once")
  func otherForm() async throws {
    let execution = try await runbook.shell(
      plan: #"[{"name": "a", "run": "touch out", "outputs": "out"}]"#,
      """
      touch out; printf 'started\\t\\t\\ta\\nsucceeded\\t1\\t2 3\\ta\\n' > .runbook.log
      for i in 1 2; do $RUNBOOK plan.json | tail -n 1; done
      """)
    #expect(
      execution.lines.map { $0.split(separator: ": ").last ?? "" } == [
        "1 succeeded", "1 not needed",
      ])
    #expect(
      execution.errorOutput.components(separatedBy: "is of another version of runbook").count == 2,
      "\(execution.errorOutput)")
  }

  // MARK: Contents

  @Test(
    "a step that leaves its output as it is, or keeps old times, runs once, and those after it do not"
  )
  func restat() async throws {
    let ends = try await ends(
      """
      [{"name": "gen", "run": "cut -c1 in > t; cmp -s t gen.h || cp t gen.h", "inputs": "in", "outputs": "gen.h"},
       {"name": "use", "run": "cat gen.h > out", "inputs": "gen.h", "outputs": "out"},
       {"name": "unpack", "run": "tar xf a.tar", "inputs": "a.tar", "outputs": "src"}]
      """,
      """
      mkdir src; touch -d 2020-01-01 src/a; tar cf a.tar src; rm -r src; echo ab > in
      run; run; touch in a.tar; run; run; echo ac > in; run; run; echo b > in; run
      """)
    #expect(
      ends == [
        "3 succeeded", "3 not needed", "3 not needed", "3 not needed", "1 succeeded, 2 not needed",
        "3 not needed", "2 succeeded, 1 not needed",
      ])
  }

  @Test("an output folder counts with all its files, but for what other steps make in it")
  func outputFolder() async throws {
    let ends = try await ends(
      """
      [{"name": "folder", "run": "mkdir -p site", "outputs": "site"},
       {"name": "more", "run": "date > site/more", "outputs": "site/more", "after": "folder"},
       {"name": "pages", "run": "mkdir -p pages/in; cp in pages/in/a; cp in pages/b", "inputs": "in", "outputs": "pages"}]
      """,
      """
      echo 1 > in; run; run; rm pages/in/a; run; run; echo x > pages/b; run; rm -r pages/*; run; run
      """)
    let one = "1 succeeded, 2 not needed"
    #expect(
      ends == [
        "3 succeeded", "3 not needed", one, "3 not needed", one, one, "3 not needed",
      ])
  }

  @Test("a folder with nothing in it counts too, but not one that is made for the output of a step")
  func emptyFolders() async throws {
    let ends = try await ends(
      """
      [{"name": "site", "run": "mkdir -p site/empty", "outputs": "site"},
       {"name": "inner", "run": "cp in site/deep/x", "inputs": "in", "outputs": "site/deep/x", "after": "site"},
       {"name": "all", "run": "ls > made/list", "inputs": ".", "outputs": "made/list", "after": "inner"}]
      """,
      """
      echo > in; run; run; rmdir site/empty; run; run; rm site/deep/x made/list; run; run
      """)
    #expect(
      ends == [
        "3 succeeded", "3 not needed", "1 succeeded, 2 not needed", "3 not needed",
        "2 succeeded, 1 not needed", "3 not needed",
      ])
  }

  @Test("files behind a link in an input folder count, and a circle of links does no harm")
  func linkedFolder() async throws {
    let ends = try await ends(
      #"[{"name": "a", "run": "cat d/link/f > out; mkdir -p e; echo x > e/own", "inputs": "d", "outputs": ["out", "e/own"]}]"#,
      """
      mkdir d e; ln -s ../e d/link; ln -s ../d e/back; ln -s none d/dangling; echo 1 > e/f
      run; run; echo 2 > e/f; run; run; ln -sfn other d/dangling; run; cat out
      """)
    #expect(
      ends == ["1 succeeded", "1 not needed", "1 succeeded", "1 not needed", "1 succeeded", "2"])
  }

  @Test(
    "an input does not change by a new link, other permissions, or what the step itself makes"
  )
  func linkedInput() async throws {
    let ends = try await ends(
      """
      [{"name": "link", "run": "ln -f in out; chmod 600 in", "inputs": "in", "outputs": "out"},
       {"name": "self", "run": "echo x >> both", "inputs": "both", "outputs": "both"}]
      """, "echo 1 > in; touch both; run; run; run")
    #expect(ends == ["2 succeeded", "2 not needed", "2 not needed"])
  }

  @Test(
    "an input that had other contents while its step ran makes it run again, even if it has its old ones"
  )
  func changedAndBack() async throws {
    let ends = try await ends(
      #"[{"name": "a", "run": "cp in out; test -e done || { cp in old; echo other > in; cat in > out; cp old in; touch done; }", "inputs": "in", "outputs": "out"}]"#,
      "echo 1 > in; run; $RUNBOOK --explain plan.json | grep -o 'runs: .*'; cat out; run")
    #expect(
      ends == [
        "1 succeeded", "runs: the last time the input 'in' was changed while it ran", "1",
        "1 not needed",
      ])
  }

  @Test("a variable of a dotenv file counts with the value that the environment gives it")
  func dotenv() async throws {
    let ends = try await ends(
      #"[{"name": "a", "run": "echo $MODE > out", "dotenv": ".env", "outputs": "out"}]"#,
      "echo MODE=a > .env; run; MODE=b run; cat out; MODE=c run; cat out; MODE=c run; run; cat out")
    #expect(
      ends == [
        "1 succeeded", "1 succeeded", "b", "1 succeeded", "c", "1 not needed", "1 succeeded", "a",
      ])
  }

  @Test("no timeout holds while outputs are read, and what stops the run stops that")
  func readingOutputs() async throws {
    try runbook.makePipe("made")
    try runbook.makePipe("never")
    // Nobody can read the output to its end. When 'late' has timed out, 'big' would have, too.
    let execution = try await runbook.run(
      plan: """
        [{"name": "big", "run": "echo ran >> log; truncate -s 900G big; echo > made", "outputs": "big",
          "timeout": 1, "retries": 2},
         {"name": "ended", "run": "cat made"},
         {"name": "late", "after": "ended", "run": "exec 3<> never; cat never", "timeout": 1.5}]
        """, "-j2")
    #expect(execution.exit == .status(1))
    #expect(
      execution.output.contains(
        "big | the run was stopped before its outputs were read: the next run makes it again"),
      "\(execution.output)")
    #expect(
      execution.lines.last?.hasSuffix("2 succeeded, 1 timed out") ?? false, "\(execution.output)")
    #expect(runbook.text("log") == "ran\n")
    let next = try await runbook.shell(
      plan: #"[{"name": "big", "run": "truncate -s 1 big", "outputs": "big"}]"#,
      "$RUNBOOK --explain plan.json")
    #expect(
      next.output.contains("runs: the last time the run was stopped before its outputs were read"),
      "\(next.output)")
  }

  // MARK: Names

  @Test("two spellings of one letter are two files, as inputs, outputs, in folders and depfiles")
  func spellings() async throws {
    let (one, two) = ("\u{FC}", "u\u{308}")
    let ends = try await ends(
      """
      [{"name": "one", "run": "cat '\(one)' > 'o\(one)'", "inputs": "\(one)", "outputs": "o\(one)"},
       {"name": "two", "run": "cat '\(two)' > 'o\(two)'", "inputs": "\(two)", "outputs": "o\(two)"},
       {"name": "dep", "run": "cat '\(two)' > d; echo 'd: \(two)' > d.d", "outputs": "d", "depfile": "d.d"},
       {"name": "folder", "run": "ls f > l", "inputs": "f", "outputs": "l"}]
      """,
      """
      mkdir f; touch 'f/\(one)'; echo 1 > '\(one)'; echo 2 > '\(two)'
      run; run; echo 3 > '\(two)'; run; cat 'o\(one)' 'o\(two)'; mv 'f/\(one)' 'f/\(two)'; run; run
      """)
    #expect(
      ends == [
        "4 succeeded", "4 not needed", "2 succeeded, 2 not needed", "1", "3",
        "1 succeeded, 3 not needed", "4 not needed",
      ])
  }

  @Test("two spellings of one letter are two plans, two directories and two steps of an each")
  func spellingsOfPlans() async throws {
    #if os(Linux)
      let (one, two) = ("\u{FC}", "u\u{308}")
      let ends = try await ends(
        """
        {"include": ["\(one)/p.json", "\(two)/p.json"],
         "steps": [{"name": "cc {n}", "each": {"n": "src/{n}.c"}, "inputs": "src/{n}.c", "outputs": "{n}.o",
                    "run": "cat \\"$1\\" > \\"$n.o\\"", "group": "cc"},
                   {"name": "all", "outputsOf": "cc", "run": "cat \\"$@\\" > all", "outputs": "all"}]}
        """,
        """
        mkdir src '\(one)' '\(two)'; echo 1 > 'src/\(one).c'; echo 2 > 'src/\(two).c'
        echo '[{"name": "one", "run": "echo 1 > out", "outputs": "out"}]' > '\(one)/p.json'
        echo '[{"name": "two", "run": "echo 2 > out", "outputs": "out"}]' > '\(two)/p.json'
        run; run; cat '\(one)/out' '\(two)/out' all; echo 3 > 'src/\(one).c'; rm '\(one)/.runbook.log'; run; cat all
        """)
      #expect(
        ends == [
          "5 succeeded", "5 not needed", "1", "2", "2", "1", "3 succeeded, 2 not needed", "2", "3",
        ])
    #endif
  }

  @Test("a plan in a directory whose name is no text is refused, and no other one runs instead")
  func bytesOfDirectory() async throws {
    let execution = try await runbook.shell(
      plan: "[]",
      """
      d=$(printf 'x\\377'); mkdir -p "$d/sub" || exit 0
      echo '[{"name": "outer", "run": "touch outer", "outputs": "outer"}]' > runbook.json
      echo '[{"name": "inner", "run": "touch inner", "outputs": "inner"}]' > "$d/runbook.json"
      cd "$d/sub"; $RUNBOOK; echo "status $?"; test -e ../../outer && echo ran
      """)
    guard !execution.lines.isEmpty else { return }
    #expect(execution.lines == ["status 2"])
    #expect(
      execution.errorOutput.contains(#"/x\xff' is not UTF-8: no step can be started there"#),
      "\(execution.errorOutput)")
  }

  @Test("a name that is no text is a file like others, and is shown by its bytes")
  func bytes() async throws {
    let ends = try await ends(
      """
      [{"name": "folder", "run": "cat f/* > l", "inputs": "f", "outputs": "l"},
       {"name": "dep", "run": "cat f/* > d; cp made d.d", "outputs": "d", "depfile": "d.d"}]
      """,
      """
      mkdir f; n=$(printf 'f/x\\377y'); echo 1 > "$n" || exit 0; printf 'd: f/x\\377y\\n' > made
      run; run; echo 2 > "$n"; $RUNBOOK --explain plan.json | grep -o 'runs: .*' | sort; run; mv "$n" f/z; run
      """)
    #expect(
      ends == [
        "2 succeeded", "2 not needed", "runs: 'f' is another than the last time",
        #"runs: 'f/x\xffy' is another than the last time"#, "2 not needed", "2 succeeded",
      ] || ends.isEmpty, "not even a file system without such names: \(ends)")
  }

  @Test("a name in a depfile that is not there is named, at once and the next time")
  func missingDependency() async throws {
    let execution = try await runbook.shell(
      plan:
        #"[{"name": "cc", "run": "touch o; echo 'o: in\\:1 none.h' > d", "outputs": "o", "depfile": "d"}]"#,
      "touch in:1; $RUNBOOK --explain plan.json; $RUNBOOK --explain plan.json")
    #expect(
      execution.output.contains(
        "cc | its depfile named 'none.h', which was not there: the next run makes it again"),
      "\(execution.output)")
    #expect(
      execution.output.contains(
        "cc | runs: the last time its depfile named 'none.h', which was not there"))
  }

  // MARK: Links

  @Test("a step comes after the maker of what it reads, by any path that leads to the file")
  func linkedMakers() async throws {
    for (input, link) in [
      ("link/x", "ln -s out link"), ("flink", "ln -s out/x flink"), ("*.csv", "ln -s out/x a.csv"),
      ("link/../o/x", "mkdir -p deep/other; ln -s deep/other link; ln -s ../out deep/o"),
    ] {
      let runbook = try RunbookExecutable()
      let execution = try await runbook.shell(
        plan: """
          [{"name": "read", "run": "cat \\"$1\\" > y", "inputs": "\(input)", "outputs": "y"},
           {"name": "make", "run": "cp in out/x", "inputs": "in", "outputs": "out/x"}]
          """,
        """
        mkdir out; echo old > out/x; \(link); echo 1 > in; $RUNBOOK -q -j1 plan.json; cat y
        echo 2 > in; $RUNBOOK -q -j1 plan.json; cat y; $RUNBOOK plan.json | tail -n 1
        """)
      #expect(execution.lines.prefix(2) == ["1", "2"], "\(input)")
      #expect(execution.lines.last?.hasSuffix("2 not needed") ?? false, "\(input)")
    }
  }

  @Test("a step comes after the makers of what links in its input folder lead to, there or not yet")
  func linksInFolder() async throws {
    for (input, links) in [
      ("d", "ln -s ../out/x d/link"), ("d", "ln -s ../out d/link"),
      ("d", "mkdir d/deep m; ln -s ../../m d/deep/link; ln -s ../out m/to; ln -s . m/circle"),
      ("link", "ln -s d link; ln -s ../out/x d/x"), ("flink", "ln -s out/x flink"),
      ("flink", "ln -s other flink; ln -s d/../out/x other"),
    ] {
      let runbook = try RunbookExecutable()
      let execution = try await runbook.shell(
        plan: """
          [{"name": "read", "run": "cat out/x > y", "inputs": "\(input)", "outputs": "y"},
           {"name": "make", "run": "cp in out/x", "inputs": "in", "outputs": "out/x"}]
          """,
        """
        mkdir d; \(links); echo 1 > in; $RUNBOOK -q -j1 plan.json; cat y
        echo 2 > in; $RUNBOOK -q -j1 plan.json; cat y; $RUNBOOK plan.json | tail -n 1
        """)
      #expect(execution.lines.prefix(2) == ["1", "2"], "\(links): \(execution.output)")
      #expect(execution.lines.last?.hasSuffix("2 not needed") ?? false, "\(links)")
    }
  }

  @Test("a link in an input folder to what the step makes counts as a link")
  func linkToOwnOutput() async throws {
    let ends = try await ends(
      #"[{"name": "a", "run": "date +%N > out; mkdir -p e; date +%N > e/x", "inputs": "d", "outputs": ["out", "e"]}]"#,
      "mkdir d; ln -s ../out d/file; ln -s ../e d/folder; run; run; rm d/file; run; run")
    #expect(ends == ["1 succeeded", "1 not needed", "1 succeeded", "1 not needed"])
  }

  @Test("a file that another step makes in the output folder of a step is an input of the step")
  func inputInOutputFolder() async throws {
    for names in [#""inputs": "build/config.h","#, #""after": "configure","#] {
      let runbook = try RunbookExecutable()
      let execution = try await runbook.shell(
        plan: """
          [{"name": "configure", "run": "cp in build/config.h", "inputs": "in", "outputs": "build/config.h"},
           {"name": "cc", "run": "cp build/config.h build/app; echo 'app: build/config.h' > build/app.d", \(names)
            "outputs": "build", "depfile": "build/app.d"}]
          """,
        """
        echo 1 > in; $RUNBOOK -q plan.json; $RUNBOOK plan.json | tail -n 1
        echo 2 > in; $RUNBOOK plan.json | tail -n 1; cat build/app; $RUNBOOK plan.json | tail -n 1
        """)
      let ends = execution.lines.map { $0.split(separator: ": ").last ?? "" }
      #expect(
        ends == ["2 not needed", "2 succeeded", "2", "2 not needed"],
        "\(names) \(execution.output)\(execution.errorOutput)")
    }
  }

  @Test("a depfile may name a made file by a link; two makers of one file by a link are refused")
  func linkedDependency() async throws {
    let ends = try await ends(
      """
      [{"name": "read", "run": "cat link/x > y; echo 'y: link/x' > d", "outputs": "y", "depfile": "d"},
       {"name": "make", "run": "cp in out/x", "inputs": "in", "outputs": "out/x"}]
      """,
      """
      mkdir out; ln -s out link; echo 1 > in; cp in out/x; touch -d 2020-01-01 out/x
      run -j1 > text; run -j1 > text; echo 2 > in; run -j1; cat y
      echo '[{"name": "a", "run": "x", "outputs": "out/x"}, {"name": "b", "run": "x", "outputs": "link/x"}]' > plan.json
      $RUNBOOK --check plan.json 2>&1 | grep -o "'link/x' is an output of two steps, .*"
      """)
    #expect(ends == ["2 succeeded", "2", "'link/x' is an output of two steps, 'a' and 'b'"])
  }

  // MARK: What is dead

  @Test("--prune removes nothing that a step names by another path")
  func prunedByLink() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "a", "run": "cp in out/a", "inputs": "in", "outputs": "out/a"},
         {"name": "b", "run": "cp in out/b", "inputs": "in", "outputs": "out/b"},
         {"name": "c", "run": "cp in out/c", "inputs": "in", "outputs": "out/c"},
         {"name": "d", "run": "mkdir folder; cp in folder/d", "inputs": "in", "outputs": "folder"},
         {"name": "e", "run": "cp in data/e", "inputs": "in", "outputs": "data/e"},
         {"name": "gone", "run": "cp in out/gone", "inputs": "in", "outputs": "out/gone"}]
        """,
      """
      echo 1 > in; $RUNBOOK -q plan.json; ln -s out link; ln -s out/b flink; ln -s folder linked
      mkdir disk; mv data disk/data; ln -s disk/data data
      echo '[{"name": "a", "run": "cp in link/a", "inputs": "in", "outputs": "link/a"},
       {"name": "use", "run": "cat $1 $2 $3 > y", "inputs": ["flink", "link/c", "linked/d"], "outputs": "y"},
       {"name": "e", "run": "cp in disk/data/e", "inputs": "in", "outputs": "disk/data/e"}]' > plan.json
      $RUNBOOK --prune plan.json; $RUNBOOK -q plan.json; $RUNBOOK --prune plan.json
      for f in out/a out/b out/c folder/d data/e; do test -e $f || echo "$f is lost"; done
      """)
    #expect(
      execution.lines == [
        "removed 'out/gone', which step 'gone' had made", "there is nothing to remove",
      ], "\(execution.output)\(execution.errorOutput)")
    #expect(execution.errorOutput.isEmpty, "\(execution.errorOutput)")
  }

  private let dead = """
    [{"name": "a", "run": "echo a > work/a", "outputs": "work/a"},
     {"name": "b", "run": "echo b > work/b", "outputs": "work/b"},
     {"name": "c", "run": "mkdir -p work/c; touch work/c/x", "outputs": "work/c"},
     {"name": "report", "run": "cat work/? 2> /dev/null > report; true", "inputs": "work", "outputs": "report",
      "after": ["a", "b", "c"]}]
    """

  @Test("a file of a step that is gone is named, and --prune removes it, and nothing else")
  func prune() async throws {
    let execution = try await runbook.shell(
      plan: dead,
      """
      $RUNBOOK -q plan.json; touch work/own
      echo '[{"name": "a", "run": "echo a > work/a", "outputs": "work/a"},
       {"name": "c", "run": "echo d > work/d", "outputs": "work/d"},
       {"name": "report", "run": "cat work/? 2> /dev/null > report; true", "inputs": "work", "outputs": "report",
        "after": ["a", "c"]}]' > plan.json
      $RUNBOOK -q plan.json; cat report; $RUNBOOK --prune -n plan.json; ls work
      $RUNBOOK --prune plan.json; $RUNBOOK plan.json | tail -n 1; cat report; ls work; $RUNBOOK --prune plan.json
      """)
    #expect(
      execution.errorOutput.contains(
        "runbook: 'work/b' was made by step 'b', which is not in the plan any more; 'report' still reads it, with its folder; --prune removes it\n"
      ), "\(execution.errorOutput)\(execution.output)")
    #expect(
      execution.errorOutput.contains(
        "'work/c' was made by step 'c', which makes other files now; 'report' still reads it, with its folder; --prune removes it\n"
      ))
    #expect(
      execution.output.hasPrefix(
        "a\nb\nd\nwould remove 'work/c', which step 'c' had made\nwould remove 'work/b'"),
      "\(execution.output)")
    #expect(execution.output.contains("removed 'work/b', which step 'b' had made\n"))
    #expect(execution.output.hasSuffix("\na\nd\na\nd\nown\nthere is nothing to remove\n"))
  }

  @Test("--prune removes no file that another plan makes, a step reads, or somebody has changed")
  func spared() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "a", "run": "echo a > a", "outputs": "a"}, {"name": "b", "run": "echo b > b", "outputs": "b"},
         {"name": "c", "run": "echo c > c", "outputs": "c"}, {"name": "d", "run": "echo d > d", "outputs": "d"},
         {"name": "h", "run": "echo h > h", "outputs": "h"}, {"name": "e", "run": "echo e > e", "outputs": "e"},
         {"name": "keep", "run": "echo 'k: h' > k.d; touch k", "after": "h", "outputs": "k", "depfile": "k.d"}]
        """,
      """
      $RUNBOOK -q plan.json; echo changed > c
      echo '[{"name": "a", "run": "echo a > a", "outputs": "a"}]' > other.json
      echo '[{"name": "keep", "run": "echo '"'k: h'"' > k.d; touch k", "outputs": "k", "depfile": "k.d"},
        {"name": "use", "run": "cp b use", "inputs": "b", "outputs": "use"}]' > plan.json
      $RUNBOOK -q plan.json; $RUNBOOK --prune plan.json; ls
      """)
    #expect(
      execution.lines.filter { $0.hasPrefix("removed") }
        == ["removed 'e', which step 'e' had made", "removed 'd', which step 'd' had made"],
      "\(execution.output)\(execution.errorOutput)")
    for name in ["a", "b", "c", "h", "k"] { #expect(runbook.hasFile(name), "\(name)") }
    #expect(execution.errorOutput.contains("'c' is not as step 'c' left it, and stays"))
  }

  @Test("--prune removes no folder in which there were files before its step made anything there")
  func usersFolder() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "mine", "run": "cp in out/x", "inputs": "in", "outputs": "out"},
         {"name": "linked", "run": "cp in link/x", "inputs": "in", "outputs": "link"},
         {"name": "inner", "run": "cp in site/inner", "inputs": "in", "outputs": "site/inner"},
         {"name": "site", "after": "inner", "run": "cp in site/x; test -e ok", "inputs": "in", "outputs": "site"}]
        """,
      """
      mkdir -p out disk; echo 1 > in; echo mine > out/README; touch disk/own; ln -s disk link
      $RUNBOOK -q -k plan.json > text; touch ok; $RUNBOOK -q plan.json; $RUNBOOK -q --force plan.json
      echo '[{"name": "z", "run": "true"}]' > plan.json
      $RUNBOOK plan.json > text; $RUNBOOK --prune plan.json; find out disk link site
      """)
    #expect(
      Set(execution.lines) == [
        "removed 'site/inner', which step 'inner' had made",
        "removed 'site', which step 'site' had made",
        "out", "out/README", "out/x", "disk", "disk/own", "disk/x", "link",
      ], "\(execution.output)\(execution.errorOutput)")
    #expect(!runbook.hasFile("site"))
    for (folder, step) in [("out", "mine"), ("link", "linked")] {
      let sentence =
        "'\(folder)' is not known to have been empty before step '\(step)' made it, and stays"
      #expect(execution.errorOutput.contains(sentence), "\(execution.errorOutput)")
    }
  }

  @Test("a file that was there before its step, or that its step read, is not named and stays")
  func usersFile() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "fmt", "run": "sort -o src.c src.c", "inputs": "src.c", "outputs": "src.c"},
         {"name": "bad", "run": "false", "outputs": "half"},
         {"name": "over", "run": "echo 1 > there; echo > there.d", "outputs": "there", "depfile": "there.d"},
         {"name": "new", "run": "echo 1 > new; echo > new.d", "outputs": "new", "depfile": "new.d"},
         {"name": "was", "run": "echo 1 > was", "outputs": "was"}]
        """,
      """
      touch half there there.d; printf '2\\n1\\n' > src.c
      $RUNBOOK -q -k plan.json > text
      echo '[{"name": "was", "run": "sort -o was was", "inputs": "was", "outputs": "was"}]' > plan.json
      for i in $(seq 40); do $RUNBOOK -q --force plan.json 2> said; done; cat said
      echo '[{"name": "z", "run": "true"}]' > plan.json; $RUNBOOK --prune plan.json
      """)
    let lines = execution.lines
    #expect(
      lines.prefix(2) == [
        "runbook: 'new' was made by step 'new', which is not in the plan any more; --prune removes it",
        "runbook: 'new.d' was made by step 'new', which is not in the plan any more; --prune removes it",
      ], "\(execution.output)\(execution.errorOutput)")
    #expect(
      lines.dropFirst(2).filter { $0.contains("remove") } == [
        "removed 'new.d', which step 'new' had made", "removed 'new', which step 'new' had made",
      ], "\(execution.output)")
    #expect(execution.errorOutput == "", "\(execution.errorOutput)")
    for file in ["src.c", "half", "there", "there.d", "was"] { #expect(runbook.hasFile(file)) }
  }

  @Test("a pattern finds a file that was there before the step that has gone")
  func patternOfUsersFile() async throws {
    let ends = try await ends(
      #"[{"name": "fmt", "run": "sort -o a.c a.c", "inputs": "a.c", "outputs": "a.c"}]"#,
      """
      echo 1 > a.c; run
      echo '[{"name": "cc", "run": "cat \\"$@\\" > out", "inputs": "*.c", "outputs": "out"}]' > plan.json
      run; cat out
      """)
    #expect(ends == ["1 succeeded", "1 succeeded", "1"])
  }

  @Test("a file of a gone step in an included plan is named, and --prune removes it")
  func included() async throws {
    let execution = try await runbook.shell(
      plan: """
        {"include": "lib/part.json",
         "steps": [{"name": "report", "run": "echo \\"$@\\" > report", "inputs": "lib/work/*", "outputs": "report"}]}
        """,
      """
      mkdir -p lib/raw; for s in a b; do echo $s > lib/raw/$s.csv; done
      echo '[{"name": "sort {s}", "each": {"s": "raw/{s}.csv"}, "inputs": "raw/{s}.csv", "outputs": "work/{s}",
              "run": "sort raw/$s.csv > work/$s"}]' > lib/part.json
      $RUNBOOK -q plan.json; $RUNBOOK -q --force lib/part.json; rm lib/raw/b.csv; $RUNBOOK -q plan.json; cat report
      echo '[{"name": "none", "run": "touch none", "outputs": "none"}]' > plan.json; rm lib/part.json
      $RUNBOOK -q plan.json; $RUNBOOK --prune plan.json
      """)
    #expect(execution.lines.first == "lib/work/a", "\(execution.output)\(execution.errorOutput)")
    for (file, count) in [("a", 2), ("b", 3)] {
      let sentence =
        "'lib/work/\(file)' was made by step 'sort \(file)', which is not in the plan any more"
      #expect(
        execution.errorOutput.components(separatedBy: sentence).count == count,
        "\(execution.errorOutput)")
      #expect(execution.output.contains("removed 'lib/work/\(file)'"), "\(execution.output)")
    }
  }
}

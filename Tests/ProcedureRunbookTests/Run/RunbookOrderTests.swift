import Foundation
import ProceduresProcess
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

/// Who reads a file comes after who makes it, also where only folders, or what a compiler has said,
/// tell.
@Suite("runbook: the order that files give", .hangLimit)
struct RunbookOrderTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  private func order(_ steps: [Step]) throws -> [Name] { PlanGraph(try Plan(steps: steps)).order }

  private func step(
    _ name: Name, reads inputs: [String] = [], makes outputs: [String],
    in directory: String? = nil
  ) -> Step {
    var step = Step(name: name, run: "true", inputs: inputs, outputs: outputs)
    step.directory = directory
    return step
  }

  // MARK: Folders

  @Test(
    "a folder that is read comes after what is made in it, however deep",
    arguments: ["out", "./out/", "out/deep", "."])
  func folders(input: String) throws {
    let steps = [
      step("use", reads: [input], makes: ["/result"]), step("make", makes: ["out/deep/er/a.o"]),
      step("apart", makes: ["/output/b"]),
    ]
    #expect(try order(steps) == ["make", "use", "apart"])
    #expect(try Plan(steps: steps).steps[0].after == ["make"])
  }

  @Test("a folder from the root, of a step with a directory; what it makes itself does not count")
  func absoluteFolders() throws {
    let steps = [
      step("use", reads: ["out", "/p/out/a"], makes: ["out/own", "out/more/own"], in: "/p"),
      step("a", makes: ["/p/out/a"]), step("b", makes: ["more/b"], in: "/p/out"),
      step("root", reads: ["/"], makes: ["last"]),
    ]
    #expect(try order(steps) == ["a", "b", "use", "root"])
    #expect(Set(try Plan(steps: steps).steps[0].after) == ["a", "b"])
  }

  @Test("a file has one name, however a path leads to it")
  func otherPaths() throws {
    let steps = [
      step("use", reads: ["../gen.h", "a/../../x..y"], makes: ["out"], in: "/p/sub"),
      step("gen", makes: ["/p/gen.h"]), step("x", makes: ["/../p/b/../x..y"]),
      step("above", reads: ["../../up"], makes: ["other"]), step("up", makes: ["../../up"]),
    ]
    #expect(try order(steps) == ["gen", "x", "use", "up", "above"])
  }

  @Test("who reads the folder of a step that comes after it waits in a cycle")
  func folderCycle() {
    #expect(throws: PlanError(.cycle(["use", "make", "use"]))) {
      try Plan(steps: [
        step("use", reads: ["out"], makes: ["x"]), step("make", reads: ["x"], makes: ["out/y"]),
      ])
    }
  }

  @Test("a step that runs always comes after all others, whatever it reads")
  func followUp() throws {
    var last = step("last", reads: ["out"], makes: ["report"])
    last.occasion = .always
    #expect(
      try order([last, step("make", makes: ["out/a"]), step("b", makes: ["b"])])
        == ["make", "b", "last"])
  }

  @Test("a folder is read when all of it is made, and read again when some of it is")
  func madeFolder() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "use", "run": "cat out/* > all", "inputs": "out/", "outputs": "all"},
         {"name": "a", "run": "sleep 0.2; cat in > out/a", "inputs": "in", "outputs": "out/a"},
         {"name": "b", "run": "echo b > out/b", "outputs": "out/b"}]
        """,
      """
      echo 1 > in; $RUNBOOK -j3 plan.json | tail -n 1; cat all
      $RUNBOOK -j3 plan.json | tail -n 1
      echo 2 > in; $RUNBOOK -j3 plan.json | tail -n 1; cat all
      """)
    let lines = execution.lines.map { $0.split(separator: ": ").last ?? "" }
    #expect(
      lines == [
        "3 succeeded", "1", "b", "3 not needed", "2 succeeded, 1 not needed", "2", "b",
      ], "\(execution.output)\(execution.errorOutput)")
  }

  // MARK: What depfiles name

  /// `use` reads a header that `gen` makes, and only its depfile says so.
  private let generated = """
    [{"name": "use", "run": "cat gen.h > out; echo 'out: gen.h' > out.d", "outputs": "out", "depfile": "out.d"},
     {"name": "gen", "run": "sleep 0.2; cat in > gen.h", "inputs": "in", "outputs": "gen.h"}]
    """

  @Test(
    "a step waits for who makes what its depfile names, and runs again when that is another one")
  func generatedHeader() async throws {
    let execution = try await runbook.shell(
      plan: generated,
      """
      echo 1 > in; $RUNBOOK -q -j2 plan.json gen; $RUNBOOK -q -j2 plan.json
      $RUNBOOK -j2 plan.json | tail -n 1
      echo 2 > in; $RUNBOOK -j2 plan.json | tail -n 1; cat out
      # Of a step that is asked for, the maker is a part.
      echo 3 > in; $RUNBOOK -j2 plan.json use | tail -n 1; cat out
      $RUNBOOK -n --force plan.json | grep after
      """)
    let lines = execution.lines.map { $0.split(separator: ": ").last ?? "" }
    #expect(
      lines == ["2 not needed", "2 succeeded", "2", "2 succeeded", "3", "2. use, after gen"],
      "\(execution.output)\(execution.errorOutput)")
  }

  @Test("a step that is up to date counts as the maker of the files that a step reads")
  func lateLook() async throws {
    // Only reading tells that `in` has not changed, and it is too large for the look at all files.
    // So it is read when `gen` is looked at, which here is after `use`.
    let execution = try await runbook.shell(
      plan: generated,
      """
      head -c 100000 /dev/zero > in; $RUNBOOK -q -j1 plan.json gen
      touch -t 203001010000 in; $RUNBOOK -j1 plan.json | tail -n 1
      """)
    #expect(
      execution.lines.map { $0.split(separator: ": ").last ?? "" } == ["1 succeeded, 1 not needed"],
      "\(execution.output)\(execution.errorOutput)")
  }

  @Test("a step that read a file before that was made has failed, and waits for it the next time")
  func readTooEarly() async throws {
    let execution = try await runbook.shell(
      plan: generated,
      """
      echo 0 > gen.h; echo 1 > in
      $RUNBOOK -k -j2 plan.json; echo "status $?"; $RUNBOOK -j2 plan.json | tail -n 1; cat out
      """)
    #expect(
      execution.output.contains(
        "failed     use: it has read 'gen.h' before 'gen' had made that; from now on it comes after that step"
      ), "\(execution.output)\(execution.errorOutput)")
    #expect(execution.output.contains("status 1\n"))
    #expect(execution.lines.suffix(2).first?.hasSuffix("1 succeeded, 1 not needed") == true)
    #expect(execution.lines.last == "1")
  }

  @Test(
    "a step is up to date when its depfile names what was just made, by any path that leads there",
    arguments: ["sub/../gen/h", "link/h"])
  func otherPathOfHeader(path: String) async throws {
    for output in ["gen/h", "gen"] {
      let runbook = try RunbookExecutable()
      let execution = try await runbook.shell(
        plan: """
          [{"name": "gen", "run": "mkdir -p gen; cat in > gen/h", "inputs": ["in", "other"], "outputs": "\(output)"},
           {"name": "use", "run": "cat gen/h > out; echo 'out: \(path)' > out.d", "after": "gen",
            "outputs": "out", "depfile": "out.d"}]
          """,
        """
        mkdir sub gen; ln -s gen link; echo 1 > in
        for i in 1 2 3 4 5; do echo $i > other; $RUNBOOK plan.json | tail -n 1; done
        """)
      let ends = execution.lines.map { $0.split(separator: ": ").last ?? "" }
      #expect(
        ends == ["2 succeeded"] + Array(repeating: "1 succeeded, 1 not needed", count: 4),
        "\(output) \(execution.output)\(execution.errorOutput)")
    }
  }

  @Test("a cycle that a depfile makes is named with it")
  func depfileCycle() async throws {
    let execution = try await runbook.shell(
      plan: """
        [{"name": "use", "run": "true", "outputs": "out", "depfile": "out.d"},
         {"name": "gen", "run": "true", "after": "use", "outputs": "gen.h"}]
        """, "echo 'out: gen.h' > out.d; exec $RUNBOOK plan.json")
    #expect(execution.exit == .status(2))
    #expect(
      execution.errorOutput.contains(
        "because of what 'out.d' says, these wait for each other in a cycle: use → gen → use; "
          + "delete that file if it is an old one"), "\(execution.errorOutput)")
  }
}

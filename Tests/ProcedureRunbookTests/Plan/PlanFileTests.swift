import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("Reading a plan", .hangLimit)
struct PlanFileTests {
  @Test("everything a step can have arrives")
  func everything() throws {
    let plan = try read(
      """
      {"steps": [
        {"name": "a", "run": "true"},
        {"name": "b", "run": "echo", "after": ["a"], "group": "g", "timeout": 1.5,
         "directory": "d", "environment": {"X": "", "Y": "2"}},
        {"name": "c", "run": "true", "after": "g", "exclusive": "disk"},
        {"name": "d", "run": "true", "exclusive": ["disk", "net"], "onlyIf": "test -e a",
         "unless": "test -e b"}
      ]}
      """)
    #expect(plan.steps.map(\.name) == ["a", "b", "c", "d"])
    let step = plan.steps[1]
    #expect(step.run == "echo")
    #expect(step.after == ["a"])
    #expect(step.group == "g")
    #expect(step.timeout == .seconds(1.5))
    #expect(step.directory == "d")
    #expect(step.environment == ["X": "", "Y": "2"])
    #expect(plan.steps[2].after == ["g"])
    #expect(plan.groups == ["g"])
    #expect(plan.steps[2].exclusive == ["disk"] && plan.steps[3].exclusive == ["disk", "net"])
    #expect(plan.steps[3].onlyIf == "test -e a" && plan.steps[3].unless == "test -e b")
    #expect(step.exclusive.isEmpty && step.onlyIf == nil && step.unless == nil)
  }

  @Test("the list of steps alone is a plan too")
  func bareList() throws {
    #expect(try read(#"[{"name": "a", "run": "true"}]"#).steps.count == 1)
  }

  @Test(
    "a bad plan is one clear sentence",
    arguments: [
      (
        #"{"steps": ["#,
        "line 1, column 12: this is not JSON: expected a value, but the file ends here"
      ),
      (
        "{\"steps\": [\n  {\"name\" \"a\"}]}",
        "line 2, column 11: this is not JSON: expected ':' after the key 'name', found '\"'"
      ),
      (#"{"steps": []}"#, "the plan has no steps"),
      ("{}", "line 1: the plan has no 'steps'"),
      ("7", "line 1: 'steps' of the plan must be a list of steps, not a number"),
      (#"{"steps": {}}"#, "line 1: 'steps' of the plan must be a list of steps, not an object"),
      (#"[null]"#, "line 1: 'steps' of the plan must be a list of objects, not null"),
      (
        #"{"stps": []}"#,
        "line 1: the plan has the unknown key 'stps'; did you mean 'steps'?"
      ),
      (
        "[\n{\"name\": \"a\", \"run\": \"x\",\n \"afer\": []}]",
        "line 3: step 'a' has the unknown key 'afer'; did you mean 'after'?"
      ),
      (#"[{"name": "a", "name": "b", "run": "x"}]"#, "line 1: the key 'name' is there twice"),
      (#"[{"run": "x"}]"#, "line 1: step 1 has no 'name'"),
      (#"[{"name": "a"}]"#, "line 1: step 'a' has no 'run'"),
      (#"[{"name": "", "run": "x"}]"#, "line 1: 'name' of step 1 is empty"),
      (#"[{"name": "a", "run": ""}]"#, "line 1: 'run' of step 'a' is empty"),
      (#"[{"name": "a", "run": " \n"}]"#, "line 1: 'run' of step 'a' is empty"),
      (
        #"[{"name": "a", "run": [1]}]"#,
        "line 1: 'run' of step 'a' must be a list of lines, not a number"
      ),
      (#"[{"name": "a", "run": []}]"#, "line 1: 'run' of step 'a' is empty"),
      (
        #"[{"name": "a", "run": "x\u0000y"}]"#,
        "line 1: 'run' of step 'a' contains a zero byte, which no command can be given"
      ),
      (
        #"[{"name": "a", "run": "x", "environment": {"A=B": "1"}}]"#,
        "line 1: 'environment' of step 'a' has the variable 'A=B': a name is not empty and contains neither '=' nor a zero byte"
      ),
      (
        #"[{"name": "a", "run": "x", "environment": {"A": "\u0000"}}]"#,
        "line 1: 'A' of step 'a' contains a zero byte, which no command can be given"
      ),
      (
        "\u{FEFF}[]",
        "line 1, column 1: this is not JSON: the file begins with a byte order mark (BOM); save it as UTF-8 without one"
      ),
      (
        #"[{"name": "a", "run": "x", "timeout": 1e400}]"#,
        "line 1, column 39: this is not JSON: '1e400' is too large a number"
      ),
      (
        #"[{"name": "a", "run": "x", "retries": 1.5}]"#,
        "line 1: 'retries' of step 'a' must be a whole number, 0 or more, not 1.5"
      ),
      (
        #"[{"name": "a", "run": "x", "pool": "p"}]"#,
        "line 1: step 'a' is in the pool 'p', which 'pools' of the plan does not name"
      ),
      (
        #"[{"name": "a", "run": "x", "depfile": "p"}]"#,
        "line 1: step 'a' has a 'depfile' and no 'outputs': what would be made from it?"
      ),
      (
        #"[{"name": "a {f}", "run": "x", "each": {"f": "no/such/{f}.csv"}}]"#,
        "line 1: 'each' of step 'a {f}' finds no file 'no/such/{f}.csv', neither there nor in the 'outputs' of a step"
      ),
      (
        #"[{"name": "a", "run": "x", "each": {"a b": ["x"]}}]"#,
        "line 1: 'each' of step 'a' has the name 'a b': a name is of letters, digits and '_', as that of a variable"
      ),
      (
        #"[{"name": "a", "run": "x", "each": {"f": "plain"}}]"#,
        "line 1: 'f' of step 'a' must be a list of texts, or a pattern of files with '{f}', not a text"
      ),
      (
        #"[{"name": "a", "run": "x", "each": {"f": ["x", "y"]}}]"#,
        "line 1: there are two steps named 'a'"
      ),
      (
        #"[{"name": "a", "run": "x", "executor": "pbs"}]"#,
        "line 1: there is no executor 'pbs'; there are slurm, local"
      ),
      (
        #"[{"name": "a", "run": "x", "executor": "slurm", "launcher": "nice"}]"#,
        "line 1: step 'a' has 'executor' and 'launcher': one or the other"
      ),
      (
        #"[{"name": "a", "run": "x", "cpu": 0}]"#,
        "line 1: 'cpu' of step 'a' must be a whole number, 1 or more, not 0.0"
      ),
      (
        #"[{"name": "a", "run": "x", "memory": 2}]"#,
        "line 1: 'memory' of step 'a' must be a size such as '512M' or '2G', not a number"
      ),
      (
        #"[{"name": "a", "run": "x", "memory": "2 GB"}]"#,
        "line 1: 'memory' of step 'a' must be a size such as '512M' or '2G', not '2 GB'"
      ),
      (
        #"[{"name": "a", "run": "x", "always": true, "onFailure": true}]"#,
        "line 1: step 'a' has 'always' and 'onFailure': one or the other"
      ),
      (
        #"[{"name": "a", "run": "x", "always": "yes"}]"#,
        "line 1: 'always' of step 'a' must be true or false, not a text"
      ),
      (
        #"[{"name": "a", "run": "x", "after": "b"}, {"name": "b", "run": "x", "always": true}]"#,
        "line 1: these wait for each other in a cycle: a → b → a"
      ),
      (
        #"{"secrets": ["A B"], "steps": [{"name": "a", "run": "x"}]}"#,
        "line 1: 'secrets' of the plan has the name 'A B': a name is of letters, digits and '_', as that of a variable"
      ),
      (
        #"[{"name": "a", "run": "x", "dotenv": "/no/such.env"}]"#,
        "line 1: 'dotenv' of step 'a' is read before any step runs, and cannot be: there is no file '/no/such.env'"
      ),
      (
        #"{"defaults": {"dotenv": "/no/such.env"}, "steps": [{"name": "a", "run": "x"}]}"#,
        "line 1: 'dotenv' of 'defaults' is read before any step runs, and cannot be: there is no file '/no/such.env'"
      ),
      (
        #"{"include": "/no/such.json"}"#,
        "line 1: the plan cannot be read: there is no file '/no/such.json'"
      ),
      (
        #"{"parameters": {"a": 1}, "steps": []}"#,
        "line 1: 'parameters' of the plan must be an object of texts, not a number"
      ),
      (
        #"[{"name": "a", "run": "x", "outputs": "p"}, {"name": "b", "run": "x", "outputs": "./p"}]"#,
        "line 1: './p' is an output of two steps, 'a' and 'b'"
      ),
      (
        #"[{"name": "a", "run": "x", "outputs": "p", "inputs": "q/r"}, {"name": "b", "run": "x", "outputs": "q", "inputs": "p"}]"#,
        "line 1: these wait for each other in a cycle: a → b → a"
      ),
      (
        #"{"defaults": {"run": "x"}, "steps": []}"#,
        "line 1: 'defaults' has the unknown key 'run'; allowed are 'timeout', 'retries', 'retryDelay', 'cpu', 'memory', 'executor', 'executorOptions', 'launcher', 'launcherCancel', 'directory', 'dotenv', 'environment', 'jobserver'"
      ),
      (#"[{"name": 1, "run": "x"}]"#, "line 1: 'name' of step 1 must be a text, not a number"),
      (
        #"[{"name": "a", "run": "x", "after": 1}]"#,
        "line 1: 'after' of step 'a' must be a list of names, not a number"
      ),
      (
        #"[{"name": "a", "run": "x", "after": [1]}]"#,
        "line 1: 'after' of step 'a' must be a list of names, not a number"
      ),
      (
        #"[{"name": "a", "run": "x", "exclusive": {}}]"#,
        "line 1: 'exclusive' of step 'a' must be a list of names, not an object"
      ),
      (
        #"[{"name": "a", "run": "x", "exclusive": ["b", ""]}]"#,
        "line 1: 'exclusive' of step 'a' is empty"
      ),
      (
        #"[{"name": "a", "run": "x", "onlyIf": true}]"#,
        "line 1: 'onlyIf' of step 'a' must be a text, not true or false"
      ),
      (#"[{"name": "a", "run": "x", "unless": " "}]"#, "line 1: 'unless' of step 'a' is empty"),
      (
        #"[{"name": "a", "run": "x", "timeout": "1"}]"#,
        "line 1: 'timeout' of step 'a' must be a number of seconds, not a text"
      ),
      (
        #"[{"name": "a", "run": "x", "timeout": -1}]"#,
        "line 1: 'timeout' of step 'a' must be more than 0 seconds"
      ),
      (
        #"[{"name": "a", "run": "x", "timeout": 0}]"#,
        "line 1: 'timeout' of step 'a' must be more than 0 seconds"
      ),
      (
        #"[{"name": "a", "run": "x", "environment": {"A": 1}}]"#,
        "line 1: 'environment' of step 'a' must be an object of texts, not a number"
      ),
      (
        #"[{"name": "a", "run": "x", "environment": []}]"#,
        "line 1: 'environment' of step 'a' must be an object of texts, not a list"
      ),
      (
        "[{\"name\": \"a\", \"run\": \"x\"},\n{\"name\": \"a\", \"run\": \"y\"}]",
        "line 2: there are two steps named 'a'"
      ),
      (
        #"[{"name": "a", "run": "x", "group": "b"}, {"name": "b", "run": "x"}]"#,
        "line 1: 'b' is the name of a step and of a group"
      ),
      (
        #"[{"name": "a", "run": "x", "after": ["z"]}]"#,
        "line 1: step 'a' is after 'z', which is neither a step nor a group"
      ),
      (
        #"[{"name": "a", "run": "x", "after": ["a"]}]"#,
        "line 1: these wait for each other in a cycle: a → a"
      ),
      (
        #"[{"name": "a", "run": "x", "after": ["b"]}, {"name": "b", "run": "x", "after": ["a"]}]"#,
        "line 1: these wait for each other in a cycle: a → b → a"
      ),
    ])
  func badPlans(json: String, sentence: String) {
    let error = #expect(throws: PlanError.self) { try read(json) }
    #expect(error?.description == sentence)
  }

  @Test("a file that cannot be read is named")
  func unreadable() {
    let missing = #expect(throws: PlanError.self) { try PlanFile.plan(atPath: "/no/such.json") }
    #expect(missing?.description == "the plan cannot be read: there is no file '/no/such.json'")
    let directory = #expect(throws: PlanError.self) { try PlanFile.plan(atPath: "/") }
    #expect(directory?.description == "the plan cannot be read: '/' is a directory")
  }

  @Test("defaults hold for steps that say nothing else; directories start at the plan's")
  func defaults() throws {
    let plan = try PlanFile.plan(
      from: """
        {
          "defaults": {"directory": "d", "timeout": 7, "retries": 2, "launcher": "nice",
                       "environment": {"A": "1", "B": "2"}},
          "pools": {"link": 2},
          "steps": [
            {"name": "a", "run": ["echo 1", "echo 2"]}, // a comment
            {"name": "b", "run": "true", "directory": "/e", "timeout": 1, "retries": 0,
             "environment": {"B": "3"}, "pool": "link", "terminal": true},
            {"name": "c", "run": "true", "directory": "f", "retryDelay": 0.5,
             "inputs": "i", "outputs": ["o", "p"]},
          ],
        }
        """.utf8, directory: "/plans")
    #expect(plan.steps[0].run == "echo 1\necho 2")
    #expect(plan.steps.map(\.directory) == ["/plans/d", "/e", "/plans/d/f"])
    #expect(plan.steps.map(\.timeout) == [.seconds(7), .seconds(1), .seconds(7)])
    #expect(plan.steps.map(\.retries) == [2, 0, 2])
    #expect(plan.steps[1].environment == ["A": "1", "B": "3"])
    #expect(plan.steps[0].launcher == "nice" && plan.steps[2].retryDelay == .seconds(0.5))
    #expect(plan.steps[2].inputs == ["i"] && plan.steps[2].outputs == ["o", "p"])
    #expect(plan.steps[1].terminal && plan.steps[1].pools == ["link"])
    #expect(plan.pools == ["link": 2])
  }

  @Test("a mistake in a very large plan is a short sentence, found in linear time")
  func largeMistakes() {
    let size = Rounds.isStress ? 10_000 : 2_000
    let members = (0..<5 * size).map { #""V\#($0)": """# }.joined(separator: ",")
    #expect(throws: Never.self) {
      try read(#"[{"name": "a", "run": "x", "environment": {\#(members)}}]"#)
    }
    let digits = String(repeating: "9", count: 10 * size)
    let number = #expect(throws: PlanError.self) { try read("[\(digits)]") }
    let name = #expect(throws: PlanError.self) { try read(#"{"\#(digits)": 1}"#) }
    for error in [number, name] { #expect((error?.description.count ?? 0) < 200) }

    let steps = (0..<size).map {
      #"{"name": "s\#($0)", "run": "x", "after": "s\#(($0 + size - 1) % size)"}"#
    }
    let cycle = #expect(throws: PlanError.self) { try read("[\(steps.joined(separator: ","))]") }
    #expect(
      cycle?.description.hasSuffix("→ s7 → s8 → (\(size - 9) more) → s0") == true,
      "\(cycle?.description.prefix(300) ?? "")")
  }

  @Test("the step, the defaults or the command line say where a step runs")
  func places() throws {
    let plan = try read(
      """
      {"defaults": {"executor": "slurm", "executorOptions": "-p long"},
       "steps": [{"name": "a", "run": "x"}, {"name": "b", "run": "x", "executor": "local"},
                 {"name": "c", "run": "x", "launcher": "nice", "executorOptions": "-p short"}]}
      """)
    #expect(plan.steps.map(\.executorName) == ["slurm", "local", nil])
    #expect(plan.steps.map(\.executorOptions) == ["-p long", "-p long", "-p short"])
    let none = try Options([])
    let slurm = try Options(["--executor", "slurm"])
    #expect(plan.steps.map { $0.executor(none) } == ["slurm", nil, nil])
    #expect(plan.steps.map { $0.executor(slurm) } == ["slurm", nil, nil])
    var step = Step(name: "a", run: "x")
    #expect(step.executor(slurm) == "slurm")
    step.terminal = true
    #expect(step.executor(slurm) == nil)
  }

  @Test("weights are numbers of processors and sizes of memory; defaults have them too")
  func weights() throws {
    let plan = try read(
      """
      {"defaults": {"memory": "1.5G"},
       "steps": [{"name": "a", "run": "x", "cpu": 4, "memory": "512M"}, {"name": "b", "run": "x"}]}
      """)
    #expect(plan.steps.map(\.processors) == [4, nil])
    #expect(plan.steps.map(\.memorySizes) == [[512 << 20], [3 << 29]])
    #expect(plan.names.contains("(cpu 4, memory 512M) x"))
    #expect(MemorySize("1T")?.bytes == 1 << 40 && "\(MemorySize(bytes: 3 << 29))" == "1536M")
    for text in ["", "G", "2", "-1G", "1e3G", "٣G", "0G", "9999999999T", "1.2.3G"] {
      #expect(MemorySize(text) == nil, "\(text)")
    }
  }

  @Test(
    "with targets, a step that runs always or after a failure stays with the rest of its dependencies"
  )
  func targetsOfFollowUps() throws {
    let plan = try read(
      """
      [{"name": "a", "run": "x", "group": "g"}, {"name": "b", "run": "x", "group": "h"},
       {"name": "tell", "run": "x", "onFailure": true},
       {"name": "clean", "run": "x", "always": true, "after": ["b", "a"]},
       {"name": "of b", "run": "x", "always": true, "after": "h"}]
      """)
    let left = try plan.restricted(to: ["a"])
    #expect(left.steps.map(\.name) == ["a", "tell", "clean"])
    #expect(left.steps.map(\.after) == [[], [], ["a"]])
    #expect(plan.graph.stepsBefore(2) == [0, 1] && plan.graph.stepsBefore(4) == [1])
    #expect(
      plan.counts
        == "nothing is wrong with the plan: 5 steps, 2 groups, 3 of them for the end or a failure")
  }

  @Test("with targets, only they and what they need are left")
  func targets() throws {
    let plan = try read(
      """
      [{"name": "a", "run": "x"}, {"name": "b", "run": "x", "after": "a", "group": "g"},
       {"name": "c", "run": "x", "group": "g"}, {"name": "d", "run": "x", "after": "g"},
       {"name": "e", "run": "x"}]
      """)
    #expect(try plan.restricted(to: ["d"]).steps.map(\.name) == ["a", "b", "c", "d"])
    #expect(try plan.restricted(to: ["b", "e"]).steps.map(\.name) == ["a", "b", "e"])
    #expect(try plan.restricted(to: ["g"]).steps.map(\.name) == ["a", "b", "c"])
    #expect(try plan.restricted(to: []).steps.count == 5)
    let error = #expect(throws: PlanError.self) { try plan.restricted(to: ["nope"]) }
    #expect(error?.description.contains("no step or group 'nope'") == true)
  }

  private func read(_ json: String) throws -> Plan { try PlanFile.plan(from: json.utf8) }
}

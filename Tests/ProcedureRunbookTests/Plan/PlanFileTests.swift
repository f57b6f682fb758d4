import Testing

@testable import ProcedureRunbook

@Suite("Reading a plan")
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
      (#"{"stps": []}"#, "line 1: the plan has the unknown key 'stps'; allowed are 'steps'"),
      (
        "[\n{\"name\": \"a\", \"run\": \"x\",\n \"afer\": []}]",
        "line 3: step 'a' has the unknown key 'afer'; allowed are 'name', 'run', 'after', 'group', 'exclusive', 'onlyIf', 'unless', 'timeout', 'directory', 'environment'"
      ),
      (#"[{"name": "a", "name": "b", "run": "x"}]"#, "line 1: the key 'name' is there twice"),
      (#"[{"run": "x"}]"#, "line 1: step 1 has no 'name'"),
      (#"[{"name": "a"}]"#, "line 1: step 'a' has no 'run'"),
      (#"[{"name": "", "run": "x"}]"#, "line 1: 'name' of step 1 is empty"),
      (#"[{"name": "a", "run": ""}]"#, "line 1: 'run' of step 'a' is empty"),
      (#"[{"name": "a", "run": " \n"}]"#, "line 1: 'run' of step 'a' is empty"),
      (#"[{"name": "a", "run": ["x"]}]"#, "line 1: 'run' of step 'a' must be a text, not a list"),
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

  private func read(_ json: String) throws -> Plan { try PlanFile.plan(from: json.utf8) }
}

import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("A launcher", .hangLimit)
struct LauncherTests {
  private func launcher(_ command: String, _ cancel: String? = nil) throws -> Launcher {
    var step = Step(name: "a", run: "true")
    step.launcher = command
    step.launcherCancel = cancel
    return try #require(Launcher(of: step, Options([])))
  }

  @Test("{name} is a name, in both commands, and {signal} a signal; what the shell expands stays")
  func placeholders() throws {
    let launcher = try launcher("srun -J {name} ${name} {", "scancel -s {signal} -n {name} {x}")
    #expect(
      launcher.arguments(running: ["/bin/sh", "-c", "make"], named: "n-1") == [
        "-c", "exec srun -J n-1 ${name} { \"$@\"", "sh", "/bin/sh", "-c", "make",
      ])
    #expect(launcher.cancelScript(.terminate, named: "n-1") == "scancel -s TERM -n n-1 {x}")
    #expect(launcher.cancelScript(.kill, named: "n-1") == "scancel -s KILL -n n-1 {x}")
    #expect(launcher.canKill)
    #expect(try !self.launcher("srun", "scancel -n {name}").canKill)
    #expect(try self.launcher("srun").cancelScript(.kill, named: "n") == nil)
  }

  @Test("a cancel command belongs to the launcher that it is given with")
  func belonging() throws {
    let options = try Options(["--launcher", "far", "--launcher-cancel", "end"])
    #expect(Launcher(of: Step(name: "a", run: "x"), options)?.cancel == "end")
    var step = Step(name: "a", run: "x")
    step.launcher = "nice"
    #expect(Launcher(of: step, options)?.cancel == nil)
    #expect(Launcher(of: Step(name: "a", run: "x"), try Options([])) == nil)

    let plan = try PlanFile.plan(
      from: """
        {"defaults": {"launcher": "far", "launcherCancel": "end"},
         "steps": [{"name": "a", "run": "x"}, {"name": "b", "run": "x", "launcher": "nice"},
                   {"name": "c", "run": "x", "launcherCancel": "stop"}]}
        """.utf8)
    #expect(plan.steps.map(\.launcher) == ["far", "nice", "far"])
    #expect(plan.steps.map(\.launcherCancel) == ["end", nil, "stop"])

    let error = #expect(throws: PlanError.self) {
      try PlanFile.plan(from: #"[{"name": "a", "run": "x", "launcherCancel": "stop"}]"#.utf8)
    }
    #expect(error?.description == "line 1: step 'a' has a 'launcherCancel' and no 'launcher'")
    #expect(throws: UsageError.self) { try Options(["--launcher-cancel", "end"]) }
  }
}

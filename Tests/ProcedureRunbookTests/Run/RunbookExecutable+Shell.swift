import Foundation
import ProceduresProcess

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension RunbookExecutable {
  /// Writes a plan and runs a shell script beside it, in which `$RUNBOOK` is the executable.
  ///
  /// What a script starts in the background ignores SIGINT and SIGQUIT; not so `$HEARING`, the same
  /// executable.
  func shell(
    plan: String, _ script: String, environment: [String: String] = [:],
    onOutput: @escaping @Sendable (_ text: String, _ process: Int32) -> Void = { _, _ in }
  ) async throws -> Execution {
    try Data(plan.utf8).write(to: directory.appending(path: "plan.json"))
    var environment = environment
    environment["RUNBOOK"] = Self.path
    environment["HEARING"] = Self.path.map { "env --default-signal=INT,QUIT \($0)" }
    return try await run(
      ["-c", script], program: "/bin/sh", environment: environment, onOutput: onOutput)
  }

  /// Runs it on a terminal of its own, on which the output of a shell script is typed. There is a
  /// file `over` when it has ended.
  func terminal(
    plan: String, _ options: String = "", typing: String = "",
    size: (rows: Int, columns: Int)? = nil,
    onOutput: @escaping @Sendable (_ text: String, _ process: Int32) -> Void = { _, _ in }
  ) async throws -> Execution {
    let resize = size.map { "stty rows \($0.rows) cols \($0.columns); " } ?? ""
    return try await shell(
      plan: plan,
      """
      { \(typing.isEmpty ? ":" : typing); } | {
        script -qec "\(resize)exec $RUNBOOK \(options) plan.json" /dev/null; status=$?; touch over; exit $status
      }
      """, environment: ["TERM": "xterm"], onOutput: onOutput)
  }

  /// Whether a script ended with 77, since it could not try what it is about here: then it says so,
  /// for `.ci/run`.
  static func isSkipped(_ execution: Execution, unless isTried: Bool = true) -> Bool {
    let isSkipped = execution.exit == .status(77) || !isTried
    if isSkipped {
      print("skipped: another user, or an own mount, is not possible for a test of runbook")
    }
    return isSkipped
  }

  /// `script` of Linux, which is what makes terminals.
  static var hasTerminals: Bool {
    #if os(Linux)
      FileManager.default.isExecutableFile(atPath: "/usr/bin/script")
    #else
      false
    #endif
  }

  /// Whether a program can be run here as a user whom a limit on processes binds.
  static var hasLimitedUser: Bool {
    geteuid() == 0
      && ["setpriv", "prlimit"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
      }
  }
}

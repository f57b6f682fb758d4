import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The command `runbook`: reads the options and the plan, runs it, and exits with its status.
@main
struct Command {
  static func main() async {
    // `runbook | head` must not end us by SIGPIPE and leave programs running.
    _ = signal(SIGPIPE, SIG_IGN)
    exit(await run(Array(CommandLine.arguments.dropFirst())))
  }

  private static func run(_ arguments: [String]) async -> Int32 {
    let options: Options
    do {
      options = try Options(arguments)
    } catch {
      return complain("\(error)")
    }
    if options.isHelp {
      print(Help.text)
      return 0
    }
    do throws(PlanError) {
      if let path = options.planPath { return await run(try PlanFile.plan(atPath: path), options) }
      return try await runBuiltInPlan(options)
    } catch {
      let file = options.planPath.map { $0 + (error.line == nil ? ": " : ", ") }
      return complain("\(file ?? "")\(error)")
    }
  }

  private static func run(_ plan: Plan, _ options: Options) async -> Int32 {
    if options.isGraph {
      print(plan.mermaid)
      return 0
    }
    if options.isDryRun {
      print(plan.listing)
      return 0
    }
    let display = Display(
      plan.steps.map(\.name), terminal: Terminal(), isQuiet: options.isQuiet)
    display.start()
    return await PlanRun(plan, options: options, display: display).run()
  }

  /// In a temporary folder that is gone afterwards, however the run ended.
  private static func runBuiltInPlan(_ options: Options) async throws(PlanError) -> Int32 {
    let package = try BuiltInPlan.packageDirectory()
    let folder = FileManager.default.temporaryDirectory.appending(path: "runbook-\(UUID())")
    let plan = try BuiltInPlan.plan(package: package, folder: folder.path)
    guard !options.isGraph, !options.isDryRun else { return await run(plan, options) }
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw PlanError(.unreadable(reason: "the folder '\(folder.path)' cannot be made: \(error)"))
    }
    defer { try? FileManager.default.removeItem(at: folder) }
    return await run(plan, options)
  }

  private static func complain(_ sentence: String) -> Int32 {
    try? FileHandle.standardError.write(contentsOf: Data("runbook: \(sentence)\n".utf8))
    return 2
  }
}

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
  static func main() {
    let missing = JobLimit.missingDescriptors
    guard missing == 0 else {
      StandardStreams.complain(
        "there is no room for what it opens itself: allow \(missing) open files more (ulimit -n)")
      exit(1)
    }
    // Signals are caught before anything else, so that none comes too early.
    guard let interrupts = Interrupts() else {
      StandardStreams.complainAboutThreads()
      exit(1)
    }
    // Who ignores it passes that on, and then the system keeps no exits of programs.
    _ = signal(SIGCHLD, SIG_DFL)
    // `runbook | head` must not end this process by SIGPIPE and leave programs running.
    _ = signal(SIGPIPE, SIG_IGN)
    // A file that may not grow (ulimit -f) must not end it either: it is reported, like a full
    // disk.
    _ = signal(SIGXFSZ, SIG_IGN)
    StandardStreams.fillClosed()
    Task { @MainActor in
      guard let words = CommandWords.all else {
        StandardStreams.complain("the command line cannot be read: is /proc there?")
        exit(2)
      }
      let command = Command(interrupts: interrupts)
      exit(await command.run(Array(words.dropFirst())))
    }
    // All procedures of a run are on the main queue.
    MainThread.serveMainQueue()
  }

  private let interrupts: Interrupts

  @MainActor
  private func run(_ arguments: [String]) async -> Int32 {
    let options: Options
    do throws(UsageError) {
      options = try Options(arguments)
    } catch {
      return complain("\(error)")
    }
    switch options.task {
    case .help: return StandardStreams.print(Help.text)
    case .version: return StandardStreams.print("runbook \(Help.version)")
    case .run, .dryRun, .check, .list, .graph, .prune, .prunePreview: break
    }
    if let directory = options.directory, unsafe chdir(directory) != 0 {
      let reason = unsafe String(cString: strerror(errno))
      return complain("the directory '\(directory)' cannot be entered: \(reason)")
    }
    let source = PlanSource(options)
    if let sentence = sharedFile(options, source) { return complain(sentence) }
    do throws(PlanError) {
      guard let path = source.path else {
        guard source.isDemo || BuiltInPlan.isAtHome else { return complain(source.missing) }
        return try await runBuiltInPlan(source, options)
      }
      let file = InputFile(path)
      let journals = RunJournals(
        in: try PlanFile.directory(of: file), plan: file.resolved ?? RunJournals.noPlan)
      let plan = try PlanFile.plan(in: file, parameters: options.parameters, after: journals)
        .orderedByDepfiles(journals)
      return try await run(plan.restricted(to: source.targets), of: plan, journals, options)
    } catch {
      let file = (error.file ?? source.path).map { $0 + (error.line == nil ? ": " : ", ") }
      return complain("\(file ?? "")\(error)")
    }
  }

  /// A sentence about two options that write one file, or an option that overwrites the plan.
  private func sharedFile(_ options: Options, _ source: PlanSource) -> String? {
    let files = options.outputFiles
    let plan = source.path.flatMap { $0 == "-" ? nil : [$0] } ?? []
    guard let (first, second) = OutputFile.firstPair(sharingFile: files.map(\.path) + plan)
    else { return nil }
    let file = "'\(files[first].path.visible)'"
    return second < files.count
      ? "'\(files[first].option)' and '\(files[second].option)' write one file, \(file); name another"
      : "'\(files[first].option)' would overwrite the plan \(file); name another file"
  }

  @MainActor
  private func run(
    _ plan: Plan, of full: Plan, _ journals: RunJournals, _ options: Options
  ) async throws(PlanError) -> Int32 {
    let secrets = try Secrets(of: plan)
    switch options.task {
    case .check: return StandardStreams.print(plan.counts)
    case .graph: return StandardStreams.print(plan.mermaid)
    case .dryRun:
      let dryRun = DryRun(plan, of: full, journals, options)
      return StandardStreams.print(dryRun.text)
    case .list: return StandardStreams.print(plan.names)
    case .prune, .prunePreview: return prune(full, journals, options)
    case .run, .help, .version: break
    }
    if let logs = options.logDirectory, let reason = Directory.make(logs) {
      return complain("the directory '\(logs)' cannot be made: \(reason)")
    }
    let limit = JobLimit(
      wanted: options.jobs ?? max(1, Self.processorCount),
      descriptorsPerJob: options.logDirectory == nil ? 2 : 3)
    guard limit.isEnough, JobLimit.hasThreads else {
      StandardStreams.complainAboutThreads()
      return 1
    }
    if let note = limit.note { StandardStreams.complain(note) }
    let hasJobs = plan.steps.contains { $0.executor(options) != nil }
    let mayHaveJobs = hasJobs || JobFiles.areThere(in: journals.directory)
    // No lock is needed to see which jobs an earlier run has left.
    guard lock(journals, for: plan.steps, needsMain: hasJobs, waits: options.waits) else {
      return 1
    }
    let run = PlanRun(
      plan, of: full, journals: journals, hasJobs: mayHaveJobs, secrets: secrets, options: options,
      limit: limit, memory: options.memory ?? Self.memory, interrupts: interrupts)
    return await run.run()
  }

  /// Takes the locks; false if another run has one and this run does not wait.
  private func lock(
    _ journals: RunJournals, for steps: [Step], needsMain: Bool, needsAll: Bool = false, waits: Bool
  ) -> Bool {
    do throws(RunJournal.Taken) {
      let wait = { (taken: RunJournal.Taken) in
        StandardStreams.complain(
          "waiting: \(taken.sentence) a plan in '\(taken.directory.visible)'")
      }
      let sentences = try journals.lock(
        for: steps, needsMain: needsMain, needsAll: needsAll, wait: waits ? wait : nil)
      for sentence in sentences { StandardStreams.complain(sentence) }
      return true
    } catch {
      StandardStreams.complain(
        "\(error.sentence) a plan in '\(error.directory.visible)'; --wait waits for its end")
      return false
    }
  }

  /// Removes the files that removed steps have made.
  private func prune(_ plan: Plan, _ journals: RunJournals, _ options: Options) -> Int32 {
    let isPreview = options.task == .prunePreview
    if !isPreview {
      guard
        lock(journals, for: plan.steps, needsMain: true, needsAll: true, waits: options.waits)
      else { return 1 }
    }
    let dead = DeadFiles(plan, journals)
    let (lines, problems) = dead.remove(from: journals.folder, isPreview: isPreview)
    for problem in problems { StandardStreams.complain(problem) }
    let text = lines.isEmpty ? "there is nothing to remove" : lines.joined(separator: "\n")
    return max(StandardStreams.print(text), problems.isEmpty ? 0 : 1)
  }

  /// Runs in a temporary folder, which is removed afterwards in all cases.
  @MainActor
  private func runBuiltInPlan(
    _ source: PlanSource, _ options: Options
  ) async throws(PlanError) -> Int32 {
    let package = try BuiltInPlan.packageDirectory()
    // It is not named by a `UUID`: without a free descriptor Foundation on Linux makes each of them
    // of zeros.
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "runbook-\(UInt64.random(in: .min ... .max))")
    let plan = try BuiltInPlan.plan(package: package, folder: folder.path)
      .restricted(to: source.targets)
    let journals = RunJournals(
      in: try PlanFile.directory(of: InputFile("-")), plan: RunJournals.noPlan)
    guard options.task == .run else { return try await run(plan, of: plan, journals, options) }
    interrupts.hold()
    if let reason = Directory.make(folder.path) {
      throw PlanError(.unreadable(reason: "the folder '\(folder.path)' cannot be made: \(reason)"))
    }
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await run(plan, of: plan, journals, options)
  }

  private static var processorCount: Int { ProcessInfo.processInfo.activeProcessorCount }

  /// The memory of the machine, in bytes.
  private static var memory: Int { Int(clamping: ProcessInfo.processInfo.physicalMemory) }

  private func complain(_ sentence: String) -> Int32 {
    StandardStreams.complain(sentence)
    return 2
  }
}

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
  private let start = ContinuousClock.now

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
    let written: WrittenFiles
    do throws(UsageError) {
      written = try WrittenFiles(options)
    } catch {
      return complain("\(error)")
    }
    if let sentence = written.problem(withPlan: source.path) { return complain(sentence) }
    do throws(PlanError) {
      guard let path = source.path else {
        guard source.isDemo || BuiltInPlan.isAtHome else { return complain(source.missing) }
        return try await runBuiltInPlan(source, options, written)
      }
      let reader = try PlanReader(
        InputFile(path), parameters: options.parameters, targets: source.targets)
      return try await run(reader.journals, options, written, reading: reader.read)
    } catch {
      let file = (error.file ?? source.path).map { $0 + (error.line == nil ? ": " : ", ") }
      return complain("\(file ?? "")\(error)")
    }
  }

  /// - Parameter read: reads the plan as it is now.
  @MainActor
  private func run(
    _ journals: RunJournals, _ options: Options, _ written: WrittenFiles,
    reading read: () throws(PlanError) -> PlanReader.Result
  ) async throws(PlanError) -> Int32 {
    let first = try read()
    if let sentence = problem(first, written, journals) { return complain(sentence) }
    switch options.task {
    case .check: return StandardStreams.print(first.secrets.hiding(first.plan.counts))
    case .graph: return StandardStreams.print(first.secrets.hiding(first.plan.mermaid))
    case .dryRun:
      let dryRun = DryRun(first.plan, of: first.full, journals, options)
      return StandardStreams.print(first.secrets.hiding(dryRun.text))
    case .list: return StandardStreams.print(first.secrets.hiding(first.plan.names))
    case .prunePreview: return prune(first, journals, options)
    case .prune:
      let locked = try lock(
        journals, first, options, reading: read, needsMain: { _ in true }, needsAll: true)
      return locked.map { prune($0, journals, options) } ?? 1
    case .run, .help, .version: break
    }
    if let logs = options.logDirectory, let reason = Directory.make(logs) {
      return complain("the directory '\(logs)' cannot be made: \(reason)")
    }
    if let sentence = written.obstacle { return complain(sentence) }
    let limit = JobLimit(
      wanted: options.jobs ?? max(1, Self.processorCount),
      descriptorsPerJob: options.logDirectory == nil ? 2 : 3)
    guard limit.isEnough, JobLimit.hasThreads else {
      StandardStreams.complainAboutThreads()
      return 1
    }
    if let note = limit.note { StandardStreams.complain(note) }
    let hasJobs = { (plan: Plan) in plan.steps.contains { $0.executor(options) != nil } }
    guard
      let locked = try lock(journals, first, options, reading: read, needsMain: hasJobs)
    else { return 1 }
    if let sentence = problem(locked, written, journals) { return complain(sentence) }
    // No lock is needed to see which jobs an earlier run has left.
    let mayHaveJobs = hasJobs(locked.plan) || JobFiles.areThere(in: journals.directory)
    let run = PlanRun(
      locked.plan, of: locked.full, journals: journals, hasJobs: mayHaveJobs,
      secrets: locked.secrets, options: options, limit: limit,
      memory: options.memory ?? Self.memory, interrupts: interrupts, until: deadline(options))
    return await run.run()
  }

  /// A sentence about an option that would overwrite a file of the plan.
  private func problem(
    _ read: PlanReader.Result, _ written: WrittenFiles, _ journals: RunJournals
  ) -> String? {
    written.problem(with: read.full, including: journals.includedPlans)
      .map(read.secrets.hiding)
  }

  /// The end of the time for all that this process does; nil without a limit.
  private func deadline(_ options: Options) -> ContinuousClock.Instant? {
    options.timeout.map { start + $0 }
  }

  /// Takes the locks that a plan needs. If another run may have changed files since the plan was
  /// read, it is read again, under the locks.
  ///
  /// - Returns: the plan; nil if another run has a lock and this run does not wait, or has waited
  ///   until its time was up.
  private func lock(
    _ journals: RunJournals, _ first: PlanReader.Result, _ options: Options,
    reading read: () throws(PlanError) -> PlanReader.Result,
    needsMain: (Plan) -> Bool, needsAll: Bool = false
  ) throws(PlanError) -> PlanReader.Result? {
    var result = first
    let wait = { (taken: RunJournal.Taken) in
      StandardStreams.complain("waiting: \(taken.sentence) a plan in '\(taken.directory.visible)'")
    }
    while true {
      let lock: RunJournals.Lock
      do throws(RunJournal.Taken) {
        lock = try journals.lock(
          for: result.plan.steps, needsMain: needsMain(result.plan), needsAll: needsAll,
          wait: options.waits ? wait : nil, until: deadline(options))
      } catch {
        let time = options.timeout.map { ", and the \($0.text) of --timeout are over" } ?? ""
        StandardStreams.complain(
          "\(error.sentence) a plan in '\(error.directory.visible)'"
            + (options.waits ? time : "; --wait waits for its end"))
        return nil
      }
      for sentence in lock.sentences { StandardStreams.complain(sentence) }
      if lock.isAsRead { return result }
      result = try read()
    }
  }

  /// Removes the files that removed steps have made.
  private func prune(
    _ read: PlanReader.Result, _ journals: RunJournals, _ options: Options
  ) -> Int32 {
    let isPreview = options.task == .prunePreview
    let dead = DeadFiles(read.full, journals)
    let (lines, problems) = dead.remove(from: journals.folder, isPreview: isPreview)
    for problem in problems { StandardStreams.complain(read.secrets.hiding(problem)) }
    let text = lines.isEmpty ? "there is nothing to remove" : lines.joined(separator: "\n")
    return max(StandardStreams.print(read.secrets.hiding(text)), problems.isEmpty ? 0 : 1)
  }

  /// Runs in a temporary folder, which is removed afterwards in all cases.
  @MainActor
  private func runBuiltInPlan(
    _ source: PlanSource, _ options: Options, _ written: WrittenFiles
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
    let read = { () throws(PlanError) in PlanReader.Result(plan: plan, full: plan, secrets: .none) }
    guard options.task == .run else {
      return try await run(journals, options, written, reading: read)
    }
    interrupts.hold()
    if let reason = Directory.make(folder.path) {
      throw PlanError(.unreadable(reason: "the folder '\(folder.path)' cannot be made: \(reason)"))
    }
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await run(journals, options, written, reading: read)
  }

  private static var processorCount: Int { ProcessInfo.processInfo.activeProcessorCount }

  /// The memory of the machine, in bytes.
  private static var memory: Int { Int(clamping: ProcessInfo.processInfo.physicalMemory) }

  private func complain(_ sentence: String) -> Int32 {
    StandardStreams.complain(sentence)
    return 2
  }
}

import Dispatch
internal import ProcedurePrimitives
import Procedures
import ProceduresProcess
import ProceduresTimeline

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// One run of a plan: turns its steps into a graph of procedures, and waits for it.
struct PlanRun {
  private let plan: Plan
  private let secrets: Secrets
  private let options: Options
  /// How many bytes of it steps may say they use together.
  private let memory: Int
  private let interrupts: Interrupts
  private let display: Display
  /// The one switch for everything: Ctrl-C, the first failure and the time limit all use it.
  private let cancellation = CancellationTokenSource()
  /// The same for steps that run after a failure or always: the second Ctrl-C.
  private let afterwards = CancellationTokenSource()
  private let programs = RunningPrograms()
  private let launches = Launches()
  /// Where steps are handed in as jobs of clusters, by the names of these.
  private let desks: [String: JobDesk]
  private let record = RunRecord()
  private let full: Plan
  private let journals: RunJournals
  /// That of the plan, which knows its jobs; nil where there are none.
  private let journal: RunJournal?
  /// That of the plan.
  private let directory: String
  private let freshness: StepFreshness.Shared
  private let sweep: FreshnessSweep
  /// nil where no job was left.
  private let leftOverJobs: LeftOverJobs?
  /// The reports that were asked for are written when all steps have ended.
  private let timeline: ProcedureTimeline?
  /// On the main thread, which is there in any case: under a limit on threads, a run must neither wait
  /// for one nor be deaf until there is one. Nothing here blocks it.
  private let jobs: ProcedureQueue
  /// What is with a cluster, waiting or running.
  private let handedIn: ProcedureQueue
  /// Ends of groups take no place from what works.
  private let groupEnds = ProcedureQueue(name: "groups", underlyingQueue: .main)
  /// Services, with what asks whether they are ready: they take no place either.
  private let services = ProcedureQueue(name: "services", underlyingQueue: .main)
  private let threads: HandlerThreads
  /// nil where no step takes part in it.
  private let jobserver: Jobserver?
  private var steps: [StepProcedure] = []
  private var groups: [GroupEnd] = []

  /// - Parameters:
  ///   - full: the plan with all its steps.
  ///   - journals: where what succeeded is remembered.
  ///   - hasJobs: whether there are jobs of clusters, of this run or an earlier one.
  ///   - directory: that of the plan.
  ///   - secrets: what no output shows.
  ///   - limit: how many steps may run at once.
  ///   - memory: how many bytes of it they may say they use together.
  init(
    _ plan: Plan, of full: Plan, journals: RunJournals, hasJobs: Bool, secrets: Secrets,
    options: Options,
    limit: JobLimit, memory: Int, interrupts: Interrupts
  ) {
    self.plan = plan
    self.journals = journals
    journal = hasJobs ? journals.main : nil
    self.full = full
    directory = journals.directory
    self.memory = memory
    self.secrets = secrets
    self.options = options
    self.interrupts = interrupts
    self.jobs = ProcedureQueue(
      name: "jobs", maxConcurrentProcedureCount: limit.jobs, underlyingQueue: .main)
    handedIn = ProcedureQueue(
      name: "handed in", maxConcurrentProcedureCount: options.queued, underlyingQueue: .main)
    timeline = options.wantsTimeline ? ProcedureTimeline() : nil
    timeline?.record(self.jobs)
    timeline?.record(handedIn)
    timeline?.record(groupEnds)
    timeline?.record(services)
    // Where the system is far away, many looks at once take as long as one. Where room for threads is
    // short, it is for programs.
    let threads = HandlerThreads(limit: limit.note == nil ? 16 : 2)
    self.threads = threads
    let isSharing = plan.steps.contains(where: \.usesJobserver)
    jobserver = isSharing ? Jobserver(jobs: limit.jobs) : nil
    if isSharing, jobserver == nil {
      StandardStreams.complain(
        "no pipe can be made in '\(Jobserver.folder)' (TMPDIR), so each make has one job")
    }
    freshness = StepFreshness.Shared(
      full, journals, threads: threads, isForced: options.isForced)
    let sweep = FreshnessSweep(plan, freshness)
    self.sweep = sweep
    let names = plan.steps.indices.compactMap { sweep.isDone[$0] ? nil : plan.steps[$0].name }
    display = Display(
      names, upToDateCount: plan.steps.count - names.count, terminal: Terminal(options.colour),
      isQuiet: options.isQuiet)
    leftOverJobs = journal.map {
      LeftOverJobs(
        of: plan.steps.lazy.filter { $0.executor(options) == nil }, $0, in: journals.directory)
    }
    let clusters = Set(plan.steps.compactMap { $0.executor(options) })
    desks = Self.desks(clusters, directory: directory, options, display)
    makeSteps()
    connect()
  }

  /// Runs the plan to its end and answers the exit status.
  func run() async -> Int32 {
    guard display.start(), threads.prepare() else {
      StandardStreams.complainAboutThreads()
      return 1
    }
    interrupts.handle(interruptHandler)
    await leftOverJobs?.look()
    if let timeout = options.timeout { cancellation.cancel(after: timeout) }
    for group in groups { groupEnds.add(group, cancelledBy: cancellation.token) }
    for step in steps {
      if let service = step.service {
        services.add(service.ready)
        // It ends after all that need it, which are cancelled first.
        let token = service.isNeeded ? afterwards.token : cancellation.token
        services.add(step.procedure, cancelledBy: token)
        continue
      }
      let token = step.step.isFollowUp ? afterwards.token : cancellation.token
      (step.isHandedIn ? handedIn : jobs).add(step.procedure, cancelledBy: token)
    }
    await jobs.waitUntilAllFinished()
    await handedIn.waitUntilAllFinished()
    await services.waitUntilAllFinished()
    await groupEnds.waitUntilAllFinished()
    await launches.cancels.waitUntilAllFinished()
    return conclude()
  }

  private var interruptHandler: Interrupts.Handler {
    Interrupts.Handler(
      interrupted: {
        [cancellation, afterwards, programs, desks, display, options, interrupts] count in
        // The programs were killed; the run waits for nothing else.
        if count > 2, let signal = interrupts.firstSignal { _exit(128 + signal) }
        // A cluster that does not answer must not keep the run.
        ExecutorCommand.shorten(to: count == 1 ? options.gracePeriod : .seconds(1))
        if count == 1 {
          display.lose(patience: options.gracePeriod)
        } else {
          programs.kill()
          for desk in desks.values { desk.kill() }
          display.lose(patience: .seconds(1))
          afterwards.cancel(.requested)
        }
        cancellation.cancel(.requested)
      },
      willStop: { [jobs, handedIn, services, programs, display] in
        // No step begins any more, and one that is just beginning has its program.
        jobs.isSuspended = true
        handedIn.isSuspended = true
        services.isSuspended = true
        let isQuiet = DispatchSemaphore(value: 0)
        DispatchQueue.main.async { isQuiet.signal() }
        display.pause { isQuiet.signal() }
        for _ in 0..<2 { _ = isQuiet.wait(timeout: .now() + 1) }
        programs.send(signal: SIGSTOP)
      },
      didContinue: { [jobs, handedIn, services, programs, display] in
        programs.send(signal: SIGCONT)
        jobs.isSuspended = false
        handedIn.isSuspended = false
        services.isSuspended = false
        display.resume()
      },
      // Beside the grace time a launcher's cancel command may take its own, and a cluster's commands.
      patience: options.gracePeriod + LaunchedProgram.longestCancel + .seconds(5)
        + (desks.isEmpty ? .zero : ExecutorCommand.longestPatience),
      // What runs always may take its time.
      lastSignal: plan.steps.contains { $0.isFollowUp || $0.isService } ? 2 : 1,
      isStuck: { [programs] in
        // Sent when it returns.
        programs.send(signal: SIGKILL)
        StandardStreams.complain(
          "it does not come to its end, and is given up: \(StandardStreams.noThreads)")
      })
  }

  private func conclude() -> Int32 {
    jobserver?.remove()
    journals.flush()
    if let journal, !journal.hasJobs { JobFiles.removeFolder(in: directory) }
    let entries = plan.steps.indices.map { index in
      sweep.isDone[index]
        ? RunRecord.Entry(plan.steps[index], .upToDate) : record.entry(of: plan.steps[index])
    }
    let analysis = RunAnalysis(
      plan, entries, slots: slots, duration: .now - record.start)
    let timeline = timeline?.snapshot()
    let summary =
      options.showsSummary ? timeline?.summary.split(separator: "\n").map(String.init) : nil
    let notes = (options.isQuiet ? [] : analysis.lines) + (summary ?? [])
    let late = lateFiles
    let failure = display.finish(failures: record.failed, notes)
    var problems = record.allProblems
    let allSucceeded = entries.allSatisfy(\.outcome.isSuccess)
    var status: Int32 = allSucceeded ? 0 : interrupts.firstSignal.map { 128 + $0 } ?? 1
    problems += RunReport(entries, analysis, status: status, record).write(for: options)
    if let timeline { problems += RunTimeline(timeline).write(for: options) }
    for problem in problems + late { StandardStreams.complain(problem) }
    for sentence in DeadFiles(full, journals).sentences(from: journals.folder) {
      StandardStreams.complain(sentence)
    }
    let isComplete = failure.map { !StandardStreams.complain(about: $0) } ?? true
    if !problems.isEmpty || !isComplete, status == 0 { status = 1 }
    return status
  }

  /// Sentences about files that came too late for this run; the next one has them. A step that could not do its work for
  /// them has said so.
  private var lateFiles: [String] {
    PatternWatch.news(of: plan.steps.lazy.flatMap(\.watches)).map { "\($0); the next run has it" }
  }

  /// How many steps may run at once, here and with clusters.
  private var slots: Int {
    let here = steps.isEmpty || steps.contains { !$0.isHandedIn }
    return (here ? jobs.maxConcurrentProcedureCount : 0) + (desks.isEmpty ? 0 : options.queued)
  }

  private static func desks(
    _ names: Set<String>, directory: String, _ options: Options, _ display: Display
  ) -> [String: JobDesk] {
    var desks: [String: JobDesk] = [:]
    for name in names {
      guard let executor = Executors.named(name) else { continue }
      desks[name] = JobDesk {
        JobRounds(
          executor, directory: directory, pollInterval: options.pollInterval,
          gracePeriod: options.gracePeriod
        ) { display.say("\(name): \($0)") }
      }
    }
    return desks
  }

  // MARK: The graph

  private mutating func makeSteps() {
    // What steps exclude each other over is theirs alone.
    let domain = ExclusionDomain(name: "runbook")
    let machine = Machine(
      plan, jobs: jobs.maxConcurrentProcedureCount, memory: memory, domain: domain)
    let groups = Set(plan.groups)
    let made = MadeFiles(plan, isDone: sweep.isDone, record, freshness)
    for (index, step) in plan.steps.enumerated() {
      guard !sweep.isDone[index] else { continue }
      let output = StepOutput(
        of: step.name, display: display, secrets: secrets, isGrouped: options.groupsOutput,
        log: log(of: step, number: index + 1))
      let service =
        step.isService
        ? Service(step, output: output, probes: services) { [display] in
          display.ready(step.name, after: $0)
        } : nil
      let command = StepCommand(
        step: step, output: output, programs: programs, gracePeriod: options.gracePeriod,
        launcher: Launcher(of: step, options), launches: launches, cluster: cluster(for: step),
        freshness: step.isRemembered
          ? StepFreshness(
            of: step, freshness, found: sweep.looks[index], made: step.depfile == nil ? nil : made,
            complain: output.complain)
          : nil,
        service: service, jobserver: jobserver, isVerbose: options.isVerbose,
        complain: { [record] in record.note(problem: "step '\(step.name.visible)': \($0)") })
      let isHandedIn = command.cluster != nil
      let procedure = StepProcedure(
        command,
        patterns: step.watches.isEmpty || step.after.isEmpty
          ? nil : CompletePatterns(watches: step.watches, threads: threads),
        pools: plan.pools, machine: machine, domain: domain,
        hasFailed: { [plan, record] in
          record.hasFailure(in: plan.graph.stepsBefore(index).map { plan.steps[$0].name })
        },
        began: { [display] start in
          // What is a program began with its procedure.
          if isHandedIn { display.started(step.name, at: start) }
        },
        again: { [display] in display.again(step.name, because: $0) })
      observe(procedure, groups: groups)
      steps.append(procedure)
    }
  }

  private func cluster(for step: Step) -> (desk: JobDesk, journal: RunJournal)? {
    guard let journal, let name = step.executor(options), let desk = desks[name] else { return nil }
    return (desk, journal)
  }

  private func log(of step: Step, number: Int) -> StepLog? {
    guard let directory = options.logDirectory else { return nil }
    let width = String(plan.steps.count).count
    let digits = String(number)
    let prefix = String(repeating: "0", count: width - digits.count) + digits
    let name = step.name.visible.replacing(scalar: "/", with: "_").unicodeScalars.prefix(60)
    return StepLog(path: "\(directory)/\(prefix)-\(String(name)).log") { [record] in
      record.note(problem: $0)
    }
  }

  private func observe(_ step: StepProcedure, groups: Set<Name>) {
    let name = step.step.name
    step.procedure.addWillExecuteBlockObserver {
      [display, options, leftOverJobs] procedure, pendingExecute in
      if !step.isHandedIn { display.started(name, at: .now) }
      if options.explains {
        step.output.append(
          line: "runs: \(step.freshness?.reason ?? "it names neither inputs nor outputs")")
      }
      if let problem = leftOverJobs?.problem(of: name) ?? step.freshness?.noteStart() {
        procedure.cancel(withErrors: [StepCheckFailed(description: problem)])
      }
      // The step begins when nothing is drawn on the terminal any more.
      if step.step.terminal { display.pause { pendingExecute.release() } }
    }
    if let jobserver, step.service == nil, !step.isHandedIn {
      share(jobserver, with: step)
    }
    step.procedure.addDidCancelBlockObserver { [display] _, _ in display.stopping(name) }
    step.procedure.addWillFinishBlockObserver {
      [display, record] procedure, errors, pendingFinish in
      if step.step.terminal, step.hasRun { display.resume() }
      let hasSucceeded = errors.isEmpty && !procedure.isCancelled
      // The step ends when there was room for the rest of its output, and it is known what it made.
      step.output.end {
        if hasSucceeded, let problem = step.freshness?.noteSuccess() {
          record.note(problem: problem)
        }
        pendingFinish.release()
      }
    }
    step.procedure.addDidFinishBlockObserver {
      [display, record, cancellation, options, interrupts, groups] procedure, _ in
      let token = cancellation.token
      var runTimeout: Duration?
      if case .deadlineExceeded? = token.reason { runTimeout = options.timeout }
      var outcome = StepOutcome(
        of: procedure, step.step, hasRun: step.hasRun, runTimeout: runTimeout, groups: groups)
      if let service = step.service {
        service.ended(procedure)
        if service.hasServed, procedure.errors.isEmpty { outcome = .succeeded }
      }
      let entry = step.entry(outcome, since: record.start)
      display.ended(name, outcome, after: entry.duration, attempts: entry.attempts)
      // The program that had the terminal received Ctrl-C in our place.
      if step.step.terminal, outcome.isFailure, step.wasInterrupted { interrupts.note(SIGINT) }
      let failureCount = record.add(entry)
      // Without the error: it is that of this step, and the others end without one.
      if outcome.isFailure, let limit = options.failureLimit, failureCount >= limit {
        cancellation.cancel()
      }
    }
  }

  /// A step begins when it has its tokens.
  private func share(_ jobserver: Jobserver, with step: StepProcedure) {
    let processors = step.step.processors ?? 1
    let number = Locked<Int?>(nil)
    let hasTaken = Locked(false)
    step.procedure.addWillExecuteBlockObserver { _, pendingExecute in
      let taken = jobserver.take(processors) { isTaken in
        hasTaken.withLock { $0 = isTaken }
        pendingExecute.release()
      }
      number.withLock { $0 = taken }
    }
    step.procedure.addDidCancelBlockObserver { _, _ in
      if let number = number.withLock({ $0 }) { jobserver.abandon(number) }
    }
    step.procedure.addDidFinishBlockObserver { _, _ in
      if hasTaken.withLock({ $0 }) { jobserver.giveBack(processors) }
    }
  }

  /// Each is stopped when the last step has ended that needs it.
  private func connectServices(_ procedures: [Name: Procedure]) {
    for (index, step) in plan.steps.enumerated() where step.isService {
      guard let service = steps.first(where: { $0.step.name == step.name }),
        let procedure = service.service
      else { continue }
      let needing = plan.graph.stepsNeeding(index, in: plan).map { plan.steps[$0] }
      let others = needing.compactMap { other in procedures[other.name].map { (other, $0) } }
      procedure.stop(service.procedure, after: others.map(\.1))
      for (other, needs) in others where !other.isFollowUp {
        needs.add(condition: ServiceRuns(service: procedure))
      }
    }
  }

  /// A step depends on a step, on a service that is ready, or on the end of a group.
  private mutating func connect() {
    let stepProcedures = Dictionary(
      uniqueKeysWithValues: steps.map { ($0.step.name, $0.procedure) })
    connectServices(stepProcedures)
    let services = Dictionary(
      uniqueKeysWithValues: steps.compactMap { step in
        step.service.map { (step.step.name, $0.ready as Procedure) }
      })
    let proceduresByName = stepProcedures.merging(services) { $1 }
    var endsByName: [Name: GroupEnd] = [:]
    for step in steps {
      guard let group = step.step.group else { continue }
      let end = endsByName[group] ?? GroupEnd()
      if endsByName[group] == nil {
        end.name = group.text
        endsByName[group] = end
        groups.append(end)
      }
      end.add(
        dependency: step.service?.ready ?? step.procedure, requiring: .successOrIgnored)
    }
    for step in steps where !step.step.isFollowUp {
      for name in step.step.after {
        guard let other = proceduresByName[name] ?? endsByName[name] else { continue }
        step.procedure.add(dependency: other, requiring: .successOrIgnored)
      }
    }
    connectFollowUps(proceduresByName, stepProcedures)
    if jobs.maxConcurrentProcedureCount == 1 {
      let others = Set(
        steps.filter { $0.isHandedIn || $0.service != nil }.map(\.step.name))
      keepOrder(proceduresByName.filter { !others.contains($0.key) })
    }
  }

  /// Each comes after steps, however these end; what names none, after the end of services too. Not after the end of a
  /// group, which is cancelled as soon as one of its steps has failed, while others run.
  private func connectFollowUps(
    _ procedures: [Name: Procedure], _ stepProcedures: [Name: Procedure]
  ) {
    for (index, step) in plan.steps.enumerated() where step.isFollowUp {
      guard let procedure = procedures[step.name] else { continue }
      for other in plan.graph.stepsBefore(index).map({ plan.steps[$0].name }) {
        let ended = step.after.isEmpty ? stepProcedures[other] : nil
        if let other = ended ?? procedures[other] { procedure.add(dependency: other) }
      }
    }
  }

  /// One after another, as the plan has them: each comes after the one before, however that ended.
  private func keepOrder(_ procedures: [Name: Procedure]) {
    var last: (name: Name, procedure: Procedure)?
    for step in plan.graph.stepOrder.map({ plan.steps[$0] }) {
      guard let procedure = procedures[step.name] else { continue }
      if let last, !step.after.contains(last.name) {
        procedure.add(dependency: last.procedure)
      }
      last = (step.name, procedure)
    }
  }
}

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

/// One run of a plan: it makes a graph of procedures from the steps, and waits for it.
struct PlanRun {
  private let plan: Plan
  private let secrets: Secrets
  private let options: Options
  /// The bytes of memory that running steps may use together.
  private let memory: Int
  /// The end of its time; nil without a limit.
  private let deadline: ContinuousClock.Instant?
  private let interrupts: Interrupts
  private let display: Display
  /// Cancels all ordinary steps: Ctrl-C, the first failure and the time limit use it.
  private let cancellation = CancellationTokenSource()
  /// Cancels steps that run after a failure or always: the second Ctrl-C uses it.
  private let afterwards = CancellationTokenSource()
  private let programs = RunningPrograms()
  private let launches = Launches()
  /// The desks that submit steps as cluster jobs, by the names of the executors.
  private let desks: [String: JobDesk]
  private let record: RunRecord
  private let full: Plan
  private let journals: RunJournals
  /// The journal of the plan, which has its jobs; nil if there are none.
  private let journal: RunJournal?
  /// The directory of the plan.
  private let directory: String
  private let freshness: StepFreshness.Shared
  private let sweep: FreshnessSweep
  /// nil if no job was left.
  private let leftOverJobs: LeftOverJobs?
  /// Records the run, if an option needs the timeline at its end.
  private let timeline: ProcedureTimeline?
  /// It uses the main thread, which always exists: under a limit on threads a run must not wait for
  /// a thread, and must handle signals meanwhile. No procedure blocks it.
  private let jobs: ProcedureQueue
  /// Steps whose jobs are submitted: waiting or running in a cluster.
  private let handedIn: ProcedureQueue
  /// Ends of groups, which take no slot.
  private let groupEnds = ProcedureQueue(name: "groups", underlyingQueue: .main)
  /// Services and their probes, which take no slot either.
  private let services = ProcedureQueue(name: "services", underlyingQueue: .main)
  private let threads: HandlerThreads
  /// nil if no step uses it.
  private let jobserver: Jobserver?
  private var steps: [StepProcedure] = []
  private var groups: [GroupEnd] = []

  /// - Parameters:
  ///   - full: the plan with all its steps.
  ///   - journals: the records of earlier runs.
  ///   - hasJobs: whether there are cluster jobs, of this run or an earlier one.
  ///   - secrets: the values that no output may show.
  ///   - limit: the number of steps that may run at once.
  ///   - memory: the bytes of memory that these may use together.
  ///   - deadline: the end of its time; nil without a limit.
  init(
    _ plan: Plan, of full: Plan, journals: RunJournals, hasJobs: Bool, secrets: Secrets,
    options: Options,
    limit: JobLimit, memory: Int, interrupts: Interrupts, until deadline: ContinuousClock.Instant?
  ) {
    self.plan = plan
    self.journals = journals
    journal = hasJobs ? journals.main : nil
    self.full = full
    directory = journals.directory
    self.memory = memory
    self.deadline = deadline
    self.secrets = secrets
    record = RunRecord(secrets)
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
    // Many looks at the same time take as long as one in a distant file system. If threads are
    // scarce, programs need them more.
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
    desks = Self.desks(clusters, directory: directory, options, display, secrets)
    makeSteps()
    connect()
  }

  /// Runs the plan to its end and returns the exit status.
  func run() async -> Int32 {
    guard display.start(), threads.prepare() else {
      StandardStreams.complainAboutThreads()
      return 1
    }
    interrupts.handle(interruptHandler)
    await leftOverJobs?.look()
    if let deadline { cancellation.cancel(after: max(.zero, deadline - .now)) }
    for group in groups { groupEnds.add(group, cancelledBy: cancellation.token) }
    for step in steps {
      if let service = step.service {
        services.add(service.ready)
        services.add(step.procedure, cancelledBy: token(of: step))
        continue
      }
      (step.isHandedIn ? handedIn : jobs).add(step.procedure, cancelledBy: token(of: step))
    }
    await jobs.waitUntilAllFinished()
    await handedIn.waitUntilAllFinished()
    await services.waitUntilAllFinished()
    await groupEnds.waitUntilAllFinished()
    await launches.cancels.waitUntilAllFinished()
    return conclude()
  }

  /// The token that stops a step.
  private func token(of step: StepProcedure) -> CancellationToken {
    // A service ends after the steps that need it, which are cancelled first.
    let isLater = step.service?.isNeeded ?? step.step.isFollowUp
    return isLater ? afterwards.token : cancellation.token
  }

  private var interruptHandler: Interrupts.Handler {
    Interrupts.Handler(
      interrupted: {
        [cancellation, afterwards, programs, desks, display, options, interrupts] count in
        // The programs have been killed; do not wait for anything else.
        if count > 2, let signal = interrupts.firstSignal { _exit(128 + signal) }
        // A cluster that does not answer must not delay the end.
        ExecutorCommand.shorten(to: count == 1 ? options.gracePeriod : .seconds(1))
        display.lose(patience: count == 1 ? options.gracePeriod : .seconds(1))
        // Before the kill: a step that was killed and not yet cancelled would have failed.
        cancellation.cancel(.requested)
        if count > 1 {
          afterwards.cancel(.requested)
          programs.kill()
          for desk in desks.values { desk.kill() }
        }
      },
      willStop: { [jobs, handedIn, services, programs, display] in
        // No new step may begin. A step that is just beginning gets its program first, so that it
        // is stopped too.
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
      // Besides the grace period, a launcher's cancel command and the cluster's commands have time
      // limits of their own.
      patience: options.gracePeriod + LaunchedProgram.longestCancel + .seconds(5)
        + (desks.isEmpty ? .zero : ExecutorCommand.longestPatience),
      // Steps that run always are not limited by the first signal.
      lastSignal: plan.steps.contains { $0.isFollowUp || $0.isService } ? 2 : 1,
      isStuck: { [programs] in
        // SIGKILL takes effect after this returns.
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
    let notes = ((options.isQuiet ? [] : analysis.lines) + (summary ?? [])).map(secrets.hiding)
    let late = lateFiles
    let failure = display.finish(failures: record.failed, notes)
    var problems = record.allProblems
    let allSucceeded = entries.allSatisfy(\.outcome.isSuccess)
    var status: Int32 = allSucceeded ? 0 : interrupts.firstSignal.map { 128 + $0 } ?? 1
    problems += RunReport(entries, analysis, status: status, record).write(for: options)
    if let timeline { problems += RunTimeline(timeline, secrets).write(for: options) }
    let dead = DeadFiles(full, journals).sentences(from: journals.folder)
    for sentence in problems + late + dead {
      StandardStreams.complain(secrets.hiding(sentence))
    }
    let isComplete = failure.map { !StandardStreams.complain(about: $0) } ?? true
    if !problems.isEmpty || !isComplete, status == 0 { status = 1 }
    return status
  }

  /// Sentences about files that were found too late for this run. They leave out patterns because
  /// of which a step has failed.
  private var lateFiles: [String] {
    PatternWatch.news(of: plan.steps.lazy.flatMap(\.watches)).map { "\($0); the next run has it" }
  }

  /// The number of steps that may run at once, here and in clusters.
  private var slots: Int {
    let here = steps.isEmpty || steps.contains { !$0.isHandedIn }
    return (here ? jobs.maxConcurrentProcedureCount : 0) + (desks.isEmpty ? 0 : options.queued)
  }

  private static func desks(
    _ names: Set<String>, directory: String, _ options: Options, _ display: Display,
    _ secrets: Secrets
  ) -> [String: JobDesk] {
    var desks: [String: JobDesk] = [:]
    for name in names {
      guard let executor = Executors.named(name) else { continue }
      desks[name] = JobDesk {
        JobRounds(
          executor, directory: directory, pollInterval: options.pollInterval,
          gracePeriod: options.gracePeriod
        ) { display.say(secrets.hiding("\(name): \($0)")) }
      }
    }
    return desks
  }

  // MARK: The graph

  private mutating func makeSteps() {
    // The domain separates the exclusions of steps from all others.
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
      let procedure = StepProcedure(
        command,
        patterns: step.watches.isEmpty || step.after.isEmpty
          ? nil : CompletePatterns(watches: step.watches, threads: threads),
        pools: plan.pools, machine: machine, domain: domain,
        hasFailed: { [plan, record] in
          record.hasFailure(in: plan.graph.stepsBefore(index).map { plan.steps[$0].name })
        },
        began: { [display] in display.started(step.name, at: $0) },
        again: { [display, secrets] in display.again(step.name, because: secrets.hiding($0)) },
        interrupted: { [interrupts] in interrupts.note($0) })
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
      if options.explains {
        step.output.append(
          line: "runs: \(step.freshness?.reason ?? "it names neither inputs nor outputs")")
      }
      if let problem = leftOverJobs?.problem(of: name) ?? step.freshness?.noteStart() {
        procedure.cancel(withErrors: [StepCheckFailed(description: problem)])
      }
      // The step begins when nothing is drawn on the terminal any more.
      guard step.step.terminal else { return }
      display.pause { pendingExecute.release() }
      procedure.addWillFinishBlockObserver { _, _, _ in display.resume() }
    }
    if let jobserver, step.service == nil, !step.isHandedIn {
      share(jobserver, with: step)
    }
    step.procedure.addDidCancelBlockObserver { [display] _, _ in display.stopping(name) }
    step.procedure.addWillFinishBlockObserver {
      [record, token = token(of: step)] procedure, errors, pendingFinish in
      let freshness = errors.isEmpty && !procedure.isCancelled ? step.freshness : nil
      // The step finishes when its files were read, the rest of its output was taken, and its
      // success was noted. No time limit of the step holds for that, but what stops the run does.
      let end = { @Sendable in
        step.output.end {
          if let problem = freshness?.noteSuccess() { record.note(problem: problem) }
          pendingFinish.release()
        }
      }
      if let freshness { freshness.readFiles(until: token, end) } else { end() }
    }
    step.procedure.addDidFinishBlockObserver {
      [display, record, cancellation, options, interrupts, groups, secrets] procedure, _ in
      let token = cancellation.token
      var runTimeout: Duration?
      if case .deadlineExceeded? = token.reason { runTimeout = options.timeout }
      var outcome = StepOutcome(
        of: procedure, step.step, hasRun: step.hasRun, runTimeout: runTimeout, groups: groups)
      if let service = step.service {
        service.ended(procedure)
        if service.hasServed, procedure.errors.isEmpty { outcome = .succeeded }
      }
      outcome = outcome.hiding(secrets)
      let entry = step.entry(outcome, since: record.start)
      display.ended(name, outcome, after: entry.duration, attempts: entry.attempts)
      // The program that had the terminal received Ctrl-C or Ctrl-\ instead of this process.
      if outcome.isFailure, let signal = step.terminalSignal { interrupts.note(signal) }
      let failureCount = record.add(entry)
      // The cancel carries no error: the failure belongs to this step, and the others end without
      // one.
      if outcome.isFailure, let limit = options.failureLimit, failureCount >= limit {
        cancellation.cancel()
      }
    }
  }

  /// Lets a step begin when it has its tokens.
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

  /// Each service is stopped when the last step that needs it has ended.
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

  /// Makes a step depend on a step, on the readiness of a service, or on the end of a group.
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

  /// Makes follow-ups depend on steps, with any outcome; one without names also on the end of
  /// services. None depends on the end of a group, which is cancelled as soon as one of its steps
  /// fails, while others still run.
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

  /// Keeps the order of the plan: each step depends on its predecessor, with any outcome.
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

import ProceduresProcess

/// The rounds of the thread that follows jobs: each round does the due work, one thing after
/// another.
///
/// The cost for a cluster, and for the machine of `runbook`, does not depend on the number of
/// waiting jobs:
///
/// | work | how often |
/// |---|---|
/// | submitting a job | at most ten times a second |
/// | listing the folder in which jobs note their status | every second |
/// | asking the cluster for the states of all jobs | every ten seconds (`--poll`) |
/// | asking while a job waits | at least every 25 seconds |
/// | asking while the answer decides what happens | every second |
///
/// The events of a job come one at a time. `ended` is the last one, after all output was taken.
struct JobRounds {
  private static let submissionInterval = Duration.milliseconds(100)
  private static let shortInterval = Duration.seconds(1)
  private static let longestWait = Duration.seconds(25)
  /// How long a killed job may take to end.
  private static let lastPatience = Duration.seconds(10)

  private let executor: any Executor
  private let directory: String
  private let pollInterval: Duration
  private let gracePeriod: Duration
  private let complain: @Sendable (String) -> Void
  private let readers = HandlerThreads(limit: 4)
  /// The jobs in the order of their arrival.
  private var jobs: [Followed] = []
  private var isKilling = false
  /// Whether the last command of the cluster got no answer.
  private var isAway = false
  /// The time at which this round began.
  private var now: ContinuousClock.Instant
  private var lastSubmission: ContinuousClock.Instant
  private var lastLook: ContinuousClock.Instant
  private var lastQuestion: ContinuousClock.Instant
  private var lastComplaint: String?

  /// The stages of a cancel.
  private enum Ending: Equatable {
    case no
    case wanted
    case asked(since: ContinuousClock.Instant)
    case killed(since: ContinuousClock.Instant)
  }

  private struct Followed {
    let job: Job
    /// The key of the job that a killed run has left.
    let leftOverKey: String?
    var progress: JobProgress
    /// The last reference that the cluster gave.
    var reference: JobReference?
    var output: JobOutput?
    var isTimeUp = false
    var ending = Ending.no
    /// The time of the cancel.
    var endingSince: ContinuousClock.Instant?
    /// The stage of ending the job that a killed run has left, before this one is submitted.
    var leftOverEnding = Ending.wanted

    /// Whether it still is the job that a killed run has left, and not one that was submitted
    /// since.
    var isLeftOver: Bool { reference != nil && reference?.key == leftOverKey }

    var isUrgent: Bool { progress.isUrgent || ending != .no }
  }

  /// - Parameters:
  ///   - directory: the absolute path of the plan's directory.
  ///   - gracePeriod: the time between asking a job to end and killing it.
  ///   - start: the time of the first round.
  ///   - complain: called with a sentence about the cluster.
  init(
    _ executor: any Executor, directory: String, pollInterval: Duration, gracePeriod: Duration,
    at start: ContinuousClock.Instant = .now, complain: @escaping @Sendable (String) -> Void
  ) {
    (now, lastLook, lastQuestion) = (start, start, start)
    lastSubmission = start - Self.submissionInterval
    self.executor = executor
    self.directory = directory
    self.pollInterval = pollInterval
    self.gracePeriod = gracePeriod
    self.complain = complain
  }

  // MARK: When

  private var shortInterval: Duration { min(Self.shortInterval, pollInterval) }

  private var interval: Duration {
    if jobs.contains(where: \.isUrgent) { return shortInterval }
    // A reason for waiting is shown after two answers: within a minute, even with a long `--poll`.
    let isWaiting = jobs.contains { !$0.progress.hasBegun && $0.progress.reference != nil }
    return isWaiting ? min(pollInterval, Self.longestWait) : pollInterval
  }

  /// The time of the next round; nil if there are no jobs.
  var due: ContinuousClock.Instant? {
    guard !jobs.isEmpty else { return nil }
    let next = min(lastLook + shortInterval, lastQuestion + interval)
    return jobs.contains { $0.progress.phase == .line }
      ? min(next, lastSubmission + Self.submissionInterval) : next
  }

  mutating func make(_ box: JobDesk.Box, at instant: ContinuousClock.Instant = .now) {
    now = instant
    // 1. Take the requests of steps.
    jobs += box.arrivals.map { arrival in
      Followed(
        job: arrival.job, leftOverKey: arrival.progress.reference?.key,
        progress: arrival.progress, reference: arrival.progress.reference)
    }
    isKilling = box.isKilling
    let cancelled = Dictionary(
      box.cancelled.map { (ObjectIdentifier($0.job), $0.since) }, uniquingKeysWith: min)
    for index in jobs.indices where jobs[index].ending == .no {
      guard let since = cancelled[ObjectIdentifier(jobs[index].job)] else { continue }
      (jobs[index].ending, jobs[index].endingSince) = (.wanted, since)
      jobs[index].progress.cancel()
    }
    // 2. End cancelled jobs before anything is submitted, so that no cancelled job is.
    endCancelled()
    if now >= lastSubmission + Self.submissionInterval { submitNext() }
    // 3. Read the status files before asking the cluster, since they decide.
    if now >= lastLook + shortInterval { look() }
    if now >= lastQuestion + interval { ask() }
    jobs.removeAll { $0.progress.phase == .over }
  }

  // MARK: Handing in

  private mutating func submitNext() {
    guard let index = jobs.firstIndex(where: { $0.progress.phase == .line }) else { return }
    lastSubmission = now
    let job = jobs[index].job
    let key = Job.makeKey()
    let files = JobFiles(of: key, in: directory)
    var reference = JobReference(key: key, identifier: nil)
    // It is noted before it is submitted: if this run is killed after this, the next one asks the
    // cluster for the key.
    if let problem = files.prepare() ?? job.events.note(reference) {
      return end(index, .lost("it cannot be noted: \(problem)"))
    }
    jobs[index].progress.handIn(key)
    jobs[index].reference = reference
    do throws(ExecutorProblem) {
      reference.identifier = try executor.submit(job.request(key, files))
      jobs[index].progress.wasTaken(as: reference.identifier ?? "")
      jobs[index].reference = reference
      note(reference, of: job)
      job.events.says("\(executor.name): job \(reference.identifier ?? "")")
    } catch {
      // The cluster may have accepted it all the same: then its next answer shows the job.
      if error.isTransient { say(error.sentence) } else { end(index, .lost(error.sentence)) }
    }
  }

  /// Notes the identifier. If that fails, the next run still finds the job by its key.
  private mutating func note(_ reference: JobReference, of job: Job) {
    if let problem = job.events.note(reference) { say(problem) }
  }

  // MARK: Following

  private mutating func look() {
    lastLook = now
    let present = JobFiles.Present(in: directory)
    for index in jobs.indices {
      guard let key = jobs[index].progress.reference?.key else { continue }
      let files = JobFiles(of: key, in: directory)
      let status = present.hasStatus(key) ? files.readStatus() : nil
      take(
        jobs[index].progress.look(
          status: status, hasOutput: present.hasOutput(key), at: lastLook), index)
      guard jobs[index].progress.phase != .over else { continue }
      jobs[index].output?.read()
      if !jobs[index].isTimeUp, let limit = jobs[index].job.timeout,
        let start = jobs[index].progress.beganAt, start + limit <= lastLook
      {
        jobs[index].isTimeUp = true
        jobs[index].job.events.timeIsUp()
      }
    }
  }

  private mutating func ask() {
    lastQuestion = now
    let references = jobs.compactMap(\.progress.reference)
    guard !references.isEmpty else { return }
    let reports: [String: JobReport]
    do throws(ExecutorProblem) {
      reports = try executor.reports(of: references)
      isAway = false
    } catch {
      isAway = true
      // The files of jobs are read all the same.
      return say(error.sentence)
    }
    for index in jobs.indices {
      guard let reference = jobs[index].progress.reference else { continue }
      let report = reports[reference.key]
      if let report { jobs[index].reference?.identifier = report.identifier }
      take(jobs[index].progress.hear(report, at: lastQuestion), index)
      // It will be submitted again.
      if jobs[index].progress.phase == .line { JobFiles(of: reference.key, in: directory).remove() }
    }
  }

  private mutating func take(_ news: [JobProgress.News], _ index: Int) {
    let job = jobs[index].job
    for event in news {
      switch event {
      case .found(let reference):
        jobs[index].reference = reference
        note(reference, of: job)
        job.events.says("\(executor.name): job \(reference.identifier ?? ""), found again")
      case .began:
        let files = JobFiles(of: jobs[index].reference?.key ?? "", in: directory)
        // For a job of this run only the clock of this process counts.
        if jobs[index].isLeftOver, let start = files.beginning {
          jobs[index].progress.began(at: start)
        }
        job.events.began(jobs[index].progress.beganAt ?? now)
        jobs[index].output = JobOutput(of: job, files, readers)
      case .waits(let word):
        job.events.complains("\(executor.name): it waits, because of \(word)")
      case .ended(let end):
        self.end(index, end)
      }
    }
  }

  // MARK: Ending

  private mutating func endCancelled() {
    var (asked, killed): ([String], [String]) = ([], [])
    for index in jobs.indices {
      switch jobs[index].progress.phase {
      case .line where jobs[index].ending != .no:
        end(index, .lost("cancelled"))
      case .line, .over:
        break
      case .clearing:
        // A killed run has left a job with another command: the new one waits until that has ended,
        // without a limit.
        if hurry(\.leftOverEnding, index, &asked, &killed) { jobs[index].leftOverEnding = .wanted }
        if jobs[index].ending != .no { leave(index, "of an earlier run may still run") }
      case .unsure, .there:
        if isAway, isLate(index) {
          leave(index, "may still run: the cluster does not answer")
          continue
        }
        guard hurry(\.ending, index, &asked, &killed) else { continue }
        jobs[index].job.events.complains(
          "\(executor.name): \(name(of: index)) was killed and may still run")
        end(index, .lost("killed"))
      }
    }
    guard !isAway || !isKilling else { return }
    for (identifiers, kills) in [(asked, false), (killed, true)] where !identifiers.isEmpty {
      do throws(ExecutorProblem) {
        try executor.cancel(identifiers, kills: kills)
      } catch {
        isAway = true
        // Some of the killed jobs may have ended meanwhile, so a failed kill is not reported.
        if !kills { say(error.sentence) }
      }
    }
  }

  /// Asks a job to end, and kills it after the grace period. Returns true if it still runs some
  /// time after that.
  private mutating func hurry(
    _ ending: WritableKeyPath<Followed, Ending>, _ index: Int, _ asked: inout [String],
    _ killed: inout [String]
  ) -> Bool {
    guard let identifier = jobs[index].progress.reference?.identifier else { return false }
    switch jobs[index][keyPath: ending] {
    case .no:
      return false
    case .wanted:
      asked.append(identifier)
      jobs[index][keyPath: ending] = .asked(since: now)
      return false
    case .asked(let since):
      guard isKilling || now - since >= gracePeriod else { return false }
      killed.append(identifier)
      jobs[index][keyPath: ending] = .killed(since: now)
      return false
    case .killed(let since):
      return now - since >= Self.lastPatience
    }
  }

  /// Whether a cancelled job has had its grace period.
  private func isLate(_ index: Int) -> Bool {
    guard let since = jobs[index].endingSince else { return false }
    return isKilling || now - since >= gracePeriod
  }

  private func name(of index: Int) -> String {
    let (reference, progress) = (jobs[index].reference, jobs[index].progress)
    let identifier =
      reference?.identifier ?? (jobs[index].isLeftOver ? progress.formerIdentifier : nil)
    return identifier.map { "job \($0)" } ?? "its job"
  }

  /// Ends the step without the end of its job. The journal and the files keep the job, so that the
  /// next run follows it.
  private mutating func leave(_ index: Int, _ why: String) {
    jobs[index].progress.giveUp()
    let job = jobs[index].job
    job.events.complains("\(executor.name): \(name(of: index)) \(why); the next run looks for it")
    let finish = { @Sendable in job.events.ended(.lost("left"), .now) }
    if let output = jobs[index].output { output.read(finish) } else { finish() }
  }

  /// Ends the step when the rest of the output was taken.
  private mutating func end(_ index: Int, _ end: JobEnd) {
    jobs[index].progress.giveUp()
    let (job, reference) = (jobs[index].job, jobs[index].reference)
    var end = end
    if case .lost(let word) = end, let identifier = reference?.identifier {
      end = .lost("\(executor.name) job \(identifier): \(word)")
    }
    let isLeftOver = jobs[index].isLeftOver
    let finish = { @Sendable [directory, end] in
      // The journal forgets the job before its files are removed, so that no other run looks for
      // them.
      if let problem = job.events.note(nil) { job.events.complains(problem) }
      var moment = ContinuousClock.now
      if let reference {
        let files = JobFiles(of: reference.key, in: directory)
        if isLeftOver { moment = files.end ?? moment }
        files.remove()
      }
      job.events.ended(end, moment)
    }
    if let output = jobs[index].output { output.read(finish) } else { finish() }
  }

  /// Shows a complaint about the cluster, unless it was the last one too.
  private mutating func say(_ sentence: String) {
    guard lastComplaint != sentence else { return }
    lastComplaint = sentence
    complain(sentence)
  }
}

import ProceduresProcess

/// The rounds of the thread that follows jobs: what is due is done, one thing after another.
///
/// What that costs a cluster, and the machine that `runbook` runs on, does not depend on how many jobs wait:
///
/// | what | how often |
/// |---|---|
/// | handing a job in | at most ten times a second |
/// | a look at the folder in which jobs note their status | every second |
/// | the question what has become of all jobs | every ten seconds (`--poll`), every 25 at least while one waits; every second while the answer decides what is done |
///
/// The events of a job come one at a time. The last one is that it has ended, when all that it wrote was taken.
struct JobRounds {
  private static let submissionInterval = Duration.milliseconds(100)
  private static let shortInterval = Duration.seconds(1)
  private static let longestWait = Duration.seconds(25)
  /// What a job that was killed may take to be gone.
  private static let lastPatience = Duration.seconds(10)

  private let executor: any Executor
  private let directory: String
  private let pollInterval: Duration
  private let gracePeriod: Duration
  private let complain: @Sendable (String) -> Void
  private let readers = HandlerThreads(limit: 4)
  /// In the order in which they came.
  private var jobs: [Followed] = []
  private var isKilling = false
  /// The last command of the cluster got no answer.
  private var isAway = false
  /// When this round began.
  private var now: ContinuousClock.Instant
  private var lastSubmission: ContinuousClock.Instant
  private var lastLook: ContinuousClock.Instant
  private var lastQuestion: ContinuousClock.Instant
  private var lastComplaint: String?

  /// How far it is with a cancel.
  private enum Ending: Equatable {
    case no
    case wanted
    case asked(since: ContinuousClock.Instant)
    case killed(since: ContinuousClock.Instant)
  }

  private struct Followed {
    let job: Job
    /// The key of a job that a killed run has left.
    let leftOverKey: String?
    var progress: JobProgress
    /// The last that the cluster was heard to call it.
    var reference: JobReference?
    var output: JobOutput?
    var isTimeUp = false
    var ending = Ending.no
    /// When that began.
    var endingSince: ContinuousClock.Instant?
    /// The same of what a killed run has left, which must go before this one is handed in.
    var leftOverEnding = Ending.wanted

    /// Whether it is that job, and not another one, handed in since.
    var isLeftOver: Bool { reference != nil && reference?.key == leftOverKey }

    /// Whether the cluster's answer decides what is done.
    var isUrgent: Bool { progress.isUrgent || ending != .no }
  }

  /// - Parameters:
  ///   - directory: that of the plan, from the root.
  ///   - gracePeriod: between asking a job to end and killing it.
  ///   - start: when the first round may be.
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
    // Why one waits is said after two answers: within a minute, however seldom they come.
    let isWaiting = jobs.contains { !$0.progress.hasBegun && $0.progress.reference != nil }
    return isWaiting ? min(pollInterval, Self.longestWait) : pollInterval
  }

  /// When there is something to do; nil if there is no job.
  var due: ContinuousClock.Instant? {
    guard !jobs.isEmpty else { return nil }
    let next = min(lastLook + shortInterval, lastQuestion + interval)
    return jobs.contains { $0.progress.phase == .line }
      ? min(next, lastSubmission + Self.submissionInterval) : next
  }

  mutating func make(_ box: JobDesk.Box, at instant: ContinuousClock.Instant = .now) {
    now = instant
    // 1. What steps want.
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
    // 2. Cancels before anything is handed in.
    endCancelled()
    if now >= lastSubmission + Self.submissionInterval { submitNext() }
    // 3. What jobs have noted, before what the cluster says of them.
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
    // Before it is done: killed from here on, the next run asks the cluster for the key.
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
      // It may have been taken all the same: then the cluster will say so.
      if error.isTransient { say(error.sentence) } else { end(index, .lost(error.sentence)) }
    }
  }

  /// Without that the next run finds the job by its key.
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
      // What jobs note is seen all the same.
      return say(error.sentence)
    }
    for index in jobs.indices {
      guard let reference = jobs[index].progress.reference else { continue }
      let report = reports[reference.key]
      if let report { jobs[index].reference?.identifier = report.identifier }
      take(jobs[index].progress.hear(report, at: lastQuestion), index)
      // It is to be handed in anew.
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
        // For a job of this run no clock counts but our own.
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
        // What a killed run has left of another command: the new one waits until it is gone, however long.
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
        // Of those that are killed some may have ended meanwhile.
        if !kills { say(error.sentence) }
      }
    }
  }

  /// Asks a job to end, and kills it when it has had its time. True when that has not helped either.
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

  /// Whether one that is to end has had its time.
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

  /// The step ends without it. The journal and its files keep it, for the next run to follow.
  private mutating func leave(_ index: Int, _ why: String) {
    jobs[index].progress.giveUp()
    let job = jobs[index].job
    job.events.complains("\(executor.name): \(name(of: index)) \(why); the next run looks for it")
    let finish = { @Sendable in job.events.ended(.lost("left"), .now) }
    if let output = jobs[index].output { output.read(finish) } else { finish() }
  }

  /// It is over when what it still wrote was taken.
  private mutating func end(_ index: Int, _ end: JobEnd) {
    jobs[index].progress.giveUp()
    let (job, reference) = (jobs[index].job, jobs[index].reference)
    var end = end
    if case .lost(let word) = end, let identifier = reference?.identifier {
      end = .lost("\(executor.name) job \(identifier): \(word)")
    }
    let isLeftOver = jobs[index].isLeftOver
    let finish = { @Sendable [directory, end] in
      // Over for the journal before its files are gone, so that no other run looks for them.
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

  /// Once, as long as nothing else is to be said.
  private mutating func say(_ sentence: String) {
    guard lastComplaint != sentence else { return }
    lastComplaint = sentence
    complain(sentence)
  }
}

/// The progress of a job, by its files and by the cluster's reports. A value: it gets the time as
/// an argument.
///
/// ```
///   line ──handIn──▶ unsure ──the cluster took it──▶ there ──▶ over
///    ▲                 │
///    └─ it is unknown ─┘        clearing ──it has ended──▶ line
/// ```
///
/// A job of a killed run begins as unsure: the cluster says whether it is there. If its command was
/// another one, it begins as clearing, and must end before the step's new job is submitted.
///
/// 1. The status that the job itself wrote ends it. The cluster's report of an end counts only if
///    that status does not come for a while, since the file may become visible here late.
/// 2. The cluster must say twice that it does not know a job before that counts.
struct JobProgress {
  enum Phase: Equatable {
    case line
    case unsure(JobReference)
    case there(JobReference)
    case clearing(JobReference)
    case over
  }

  enum News: Equatable {
    /// The cluster has it.
    case found(JobReference)
    case began
    /// It waits for something else than its turn; with the cluster's word for it.
    case waits(String)
    case ended(JobEnd)
  }

  /// How long the status may come after the cluster's report of the end.
  private var patience = Duration.seconds(5)

  private(set) var phase: Phase
  /// The identifier that a killed run had noted for its job.
  let formerIdentifier: String?
  private(set) var hasBegun = false
  private(set) var beganAt: ContinuousClock.Instant?
  /// The cluster's report of the end, and when it first came.
  private var wordOfEnd: (end: JobEnd, since: ContinuousClock.Instant)?
  private var absences = 0
  /// The last reason for waiting, and whether it was shown.
  private var reason: (word: String, isSaid: Bool)?

  /// The progress of a new job; or of the job that a killed run has left, and whether its command
  /// is the same.
  ///
  /// Only the key of such a job is certain: a cluster that was set up anew gives the same
  /// identifiers again.
  init(leftOver: JobReference? = nil, isSame: Bool = true) {
    formerIdentifier = leftOver?.identifier
    let reference = leftOver.map { JobReference(key: $0.key, identifier: nil) }
    phase = reference.map { isSame ? .unsure($0) : .clearing($0) } ?? .line
  }

  /// The job, if the cluster may have it.
  var reference: JobReference? {
    switch phase {
    case .unsure(let reference), .there(let reference), .clearing(let reference): reference
    case .line, .over: nil
    }
  }

  /// Whether the next answer of the cluster decides what happens.
  var isUrgent: Bool {
    switch phase {
    case .unsure, .clearing: true
    case .line, .there, .over: false
    }
  }

  // MARK: What is done

  /// It will be submitted now, so the cluster may have it from now on.
  mutating func handIn(_ key: String) {
    phase = .unsure(JobReference(key: key, identifier: nil))
    (absences, wordOfEnd, reason) = (0, nil, nil)
  }

  mutating func wasTaken(as identifier: String) {
    guard case .unsure(var reference) = phase else { return }
    reference.identifier = identifier
    phase = .there(reference)
  }

  /// Corrects the time at which it began.
  mutating func began(at instant: ContinuousClock.Instant) { beganAt = instant }

  mutating func giveUp() { phase = .over }

  /// It is being ended, so the cluster's report of its end counts at once.
  mutating func cancel() { patience = .zero }

  // MARK: What is seen

  /// - Parameter status: the status that the job noted, if it did.
  mutating func look(
    status: Int32?, hasOutput: Bool, at now: ContinuousClock.Instant
  ) -> [News] {
    var news: [News] = []
    switch phase {
    case .line, .clearing, .over: return []
    // Output alone may come from a job that was lost before it finished.
    case .unsure: if status != nil { begin(&news, at: now) }
    case .there: if hasOutput || status != nil { begin(&news, at: now) }
    }
    if let status {
      phase = .over
      news.append(.ended(.status(status)))
    } else if let word = wordOfEnd, now - word.since >= patience {
      phase = .over
      news.append(.ended(word.end))
    }
    return news
  }

  /// - Parameter report: nil if the cluster does not know the job.
  mutating func hear(_ report: JobReport?, at now: ContinuousClock.Instant) -> [News] {
    guard let report else { return isAbsent(at: now) }
    absences = 0
    switch (phase, report.state) {
    case (.line, _), (.over, _):
      return []
    case (.clearing, .ended):
      phase = .line
      return []
    case (.clearing(var reference), _):
      reference.identifier = report.identifier
      phase = .clearing(reference)
      return []
    case (.unsure, .ended(.lost)):
      // A killed run has left it, and it did not finish: start from the beginning.
      phase = .line
      return []
    case (.unsure(let reference), _), (.there(let reference), _):
      var news: [News] = []
      if phase != .there(reference) || reference.identifier == nil {
        let found = JobReference(key: reference.key, identifier: report.identifier)
        phase = .there(found)
        news.append(.found(found))
      }
      switch report.state {
      case .waiting(let word): wait(word, &news)
      case .running: begin(&news, at: now)
      case .ended(let end): wordOfEnd = wordOfEnd ?? (end, now)
      }
      return news
    }
  }

  private mutating func isAbsent(at now: ContinuousClock.Instant) -> [News] {
    absences += 1
    guard absences > 1 else { return [] }
    switch phase {
    case .unsure, .clearing: phase = .line
    case .there(let reference):
      let name = reference.identifier.map { "job \($0)" } ?? "the job"
      wordOfEnd = wordOfEnd ?? (.lost("\(name) is not known any more"), now)
    case .line, .over: break
    }
    return []
  }

  private mutating func begin(_ news: inout [News], at now: ContinuousClock.Instant) {
    guard !hasBegun else { return }
    (hasBegun, beganAt) = (true, now)
    news.append(.began)
  }

  /// Shows a reason that stays, once. The part behind its comma, such as names of machines, may
  /// change.
  private mutating func wait(_ word: String?, _ news: inout [News]) {
    guard let word else { return }
    if reason?.word.prefix(while: { $0 != "," }) != word.prefix(while: { $0 != "," }) {
      reason = (word, false)
    } else if reason?.isSaid == false {
      reason = (word, true)
      news.append(.waits(word))
    }
  }
}

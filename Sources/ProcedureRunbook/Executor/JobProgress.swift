/// How far a job is, by what its files and the cluster say. A value: it gets the time as an argument.
///
/// ```
///   line ──handIn──▶ unsure ──the cluster took it──▶ there ──▶ over
///    ▲                 │
///    └─ nobody has it ─┘        clearing ──it has ended──▶ line
/// ```
///
/// A job of a run that was killed begins as unsure: the cluster says whether it is there. If its command was another
/// one it begins as clearing, and must end before the step's new one is handed in.
///
/// 1. The status that the job itself wrote ends it. What the cluster says of an end counts only when that status has
///    not come for a while: the file may be seen here late.
/// 2. That the cluster does not know a job counts when it says so twice.
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
    /// It waits for something else than its turn, in the cluster's word.
    case waits(String)
    case ended(JobEnd)
  }

  /// How long the status may come later than the cluster's word.
  private var patience = Duration.seconds(5)

  private(set) var phase: Phase
  /// What the cluster called one that a killed run has left.
  let formerIdentifier: String?
  private(set) var hasBegun = false
  private(set) var beganAt: ContinuousClock.Instant?
  /// The cluster's word, and when it came first.
  private var wordOfEnd: (end: JobEnd, since: ContinuousClock.Instant)?
  private var absences = 0
  /// The reason that came last, and whether it was said.
  private var reason: (word: String, isSaid: Bool)?

  /// One that is to be handed in; or one that a killed run has left, and whether it is the same.
  ///
  /// Only the key of a left one is known for sure: a cluster that was set up anew gives identifiers once more.
  init(leftOver: JobReference? = nil, isSame: Bool = true) {
    formerIdentifier = leftOver?.identifier
    let reference = leftOver.map { JobReference(key: $0.key, identifier: nil) }
    phase = reference.map { isSame ? .unsure($0) : .clearing($0) } ?? .line
  }

  /// The job that the cluster may have.
  var reference: JobReference? {
    switch phase {
    case .unsure(let reference), .there(let reference), .clearing(let reference): reference
    case .line, .over: nil
    }
  }

  /// Whether the next answer of the cluster decides what is done.
  var isUrgent: Bool {
    switch phase {
    case .unsure, .clearing: true
    case .line, .there, .over: false
    }
  }

  // MARK: What is done

  /// It is about to be handed in: from here on the cluster may have it.
  mutating func handIn(_ key: String) {
    phase = .unsure(JobReference(key: key, identifier: nil))
    (absences, wordOfEnd, reason) = (0, nil, nil)
  }

  mutating func wasTaken(as identifier: String) {
    guard case .unsure(var reference) = phase else { return }
    reference.identifier = identifier
    phase = .there(reference)
  }

  /// It began at another moment than it was seen to.
  mutating func began(at instant: ContinuousClock.Instant) { beganAt = instant }

  mutating func giveUp() { phase = .over }

  /// It is being ended: no round asks for its status.
  mutating func cancel() { patience = .zero }

  // MARK: What is seen

  /// - Parameter status: what the job noted, if it did.
  mutating func look(
    status: Int32?, hasOutput: Bool, at now: ContinuousClock.Instant
  ) -> [News] {
    var news: [News] = []
    switch phase {
    case .line, .clearing, .over: return []
    // It may be one that did not come to its end.
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

  /// - Parameter report: nil when the cluster does not know it.
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
      // Left by a run that was killed, and it did not come to its end: from the beginning.
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

  /// A word that stays is said, once. What stands behind its comma, such as names of machines, may change.
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

internal import ProcedurePrimitives
import ProceduresProcess

/// Whether a step with outputs has to run, and what is remembered of it.
///
/// ```
/// look → (begins) note its start → (its program has ended well) outputs there? → note its success
/// ```
///
/// Files are looked at, and read, on threads for that: some file systems take their time, and the thread
/// of the steps has none.
final class StepFreshness: Sendable {
  /// What the steps of a run share.
  struct Shared: Sendable {
    let journal: RunJournal
    /// nil where times decide.
    let digests: FileDigests?
    /// nil where nothing runs.
    let threads: HandlerThreads?
    /// Whether what is up to date runs all the same.
    let isForced: Bool
  }

  private let files: StepFiles
  private let shared: Shared
  private let made: MadeFiles?
  private let complain: @Sendable (String) -> Void
  private let start = Locked<FileTime?>(nil)
  private let lastLook = Locked<StepFiles.Look?>(nil)

  /// - Parameters:
  ///   - look: what was found, if that still holds when the step begins.
  ///   - made: which files that it may have read were made by then; nil if it does not say what it has read.
  ///   - complain: called with a sentence about a success that does not last.
  init(
    of step: Step, _ shared: Shared, found look: StepFiles.Look? = nil, made: MadeFiles? = nil,
    complain: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    files = StepFiles(of: step, digests: shared.digests)
    self.shared = shared
    self.made = made
    self.complain = complain
    if let look { lastLook.withLock { $0 = look } }
  }

  /// What is known without a look.
  var verdict: StepFiles.Verdict? { lastLook.withLock { $0?.verdict } }

  /// Stands for names, sizes and times of its inputs, as they were found last.
  var inputMarks: String { lastLook.withLock { $0?.marks?.inputs.text ?? "" } }

  /// Looks at the files; calls back on another thread.
  func look(_ completion: @escaping @Sendable (StepFiles.Verdict) -> Void) {
    run { [self] in completion(look()) }
  }

  private func run(_ job: @escaping @Sendable () -> Void) {
    if let threads = shared.threads { threads.run(job) } else { job() }
  }

  /// Looks at the files now.
  func look() -> StepFiles.Verdict {
    let look = files.look(after: shared.journal.record(of: files.step.name))
    lastLook.withLock { $0 = look }
    if shared.isForced, case .upToDate = look.verdict { return .outOfDate(because: "--force") }
    return look.verdict
  }

  /// Why it runs.
  var reason: String? {
    lastLook.withLock { look in
      if case .outOfDate(let reason)? = look?.verdict { reason } else { nil }
    }
  }

  /// Called before it runs: it finds the folders of its outputs. Returns why it must not run, for example
  /// because its failure could not be remembered.
  func noteStart() -> String? {
    start.withLock { $0 = .now }
    return shared.journal.note(.started, of: files.step.name).map {
      "its start cannot be noted: \($0)"
    }
      ?? files.makeFolders()
  }

  /// Called when its program has ended well; calls back with why that is a failure all the same: an output is not
  /// there, or it has read a file before that was made.
  ///
  /// - Parameters:
  ///   - begin: when the program did.
  ///   - isElsewhere: whether a launcher ran it, perhaps on another machine.
  func check(
    began begin: ContinuousClock.Instant, isElsewhere: Bool,
    _ completion: @escaping @Sendable (StepCheckFailed?) -> Void
  ) {
    let patience = isElsewhere ? Duration.seconds(3) : .zero
    run { [self] in
      let missing = files.missingOutputs(patience: patience)
      guard missing.isEmpty else { return completion(StepCheckFailed(missing: missing)) }
      if let problem = made?.problem(of: files.step, began: begin) { return completion(problem) }
      if let look = lastLook.withLock({ $0 }), files.hasChangedInput(since: look) {
        complain("an input was changed while it ran: the next run makes it again")
      }
      completion(nil)
    }
  }

  /// Calls back when it is noted, with what went wrong, in a sentence: then it runs again the next time.
  func noteSuccess(_ completion: @escaping @Sendable (_ problem: String?) -> Void) {
    guard let look = lastLook.withLock({ $0 }), let start = start.withLock({ $0 }) else {
      return completion(nil)
    }
    let note = { @Sendable [files, shared, complain] in
      let entry = files.entry(since: look, began: start)
      if entry.marks.isUncertain {
        complain(
          "a file that its depfile names may have been changed while it ran: the next run makes it again"
        )
      }
      completion(shared.journal.note(.succeeded(entry), of: files.step.name))
    }
    // Without a file to look at it costs less than a thread.
    if shared.digests == nil, files.step.depfile == nil { note() } else { run(note) }
  }
}

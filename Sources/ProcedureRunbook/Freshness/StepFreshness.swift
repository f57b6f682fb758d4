internal import ProcedurePrimitives
import ProceduresProcess

/// Whether a step has to run, and what is remembered of it.
///
/// ```
/// look → (begins) note its start → (its program has ended well) outputs there? what are they? → note its success
/// ```
///
/// Files are looked at, and read, on threads for that: some file systems take their time, and the thread
/// of the steps has none.
final class StepFreshness: Sendable {
  /// What the steps of a run share.
  struct Shared: Sendable {
    let journals: RunJournals
    let others: OtherOutputs
    /// nil where nothing runs.
    let threads: HandlerThreads?
    /// Whether what is up to date runs all the same.
    let isForced: Bool

    init(_ plan: Plan, _ journals: RunJournals, threads: HandlerThreads?, isForced: Bool) {
      (self.journals, self.threads, self.isForced) = (journals, threads, isForced)
      others = OtherOutputs(plan, journals)
    }
  }

  private let files: StepFiles
  private let shared: Shared
  private let made: MadeFiles?
  private let complain: @Sendable (String) -> Void
  private let state: Locked<State>

  private struct State {
    var look: StepFiles.Look?
    /// By the clock of files and by ours.
    var start: (files: FileTime, clock: ContinuousClock.Instant)?
    /// What the last attempt has succeeded with.
    var result: StepFiles.Result?
  }

  /// - Parameters:
  ///   - look: what was found, if that still holds when the step begins.
  ///   - made: which files that it may have read were made by then; nil if it does not say what it has read.
  ///   - complain: called with a sentence about a success that does not last.
  init(
    of step: Step, _ shared: Shared, found look: StepFiles.Look? = nil, made: MadeFiles? = nil,
    complain: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    files = StepFiles(of: step, shared.journals, shared.others)
    self.shared = shared
    self.made = made
    self.complain = complain
    state = Locked(State(look: look))
  }

  /// What is known without a look.
  var verdict: StepFiles.Verdict? { state.withLock { $0.look?.verdict } }

  /// Stands for the contents of its inputs, as they were found last.
  var inputMarks: String {
    let inputs = state.withLock { $0.look?.inputs } ?? []
    var marks = Fingerprint()
    for input in inputs { marks.add(input?.digest.value ?? 0) }
    return marks.text
  }

  /// Looks at the files; calls back on another thread.
  func look(_ completion: @escaping @Sendable (StepFiles.Verdict) -> Void) {
    run { [self] in completion(look()) }
  }

  private func run(_ job: @escaping @Sendable () -> Void) {
    if let threads = shared.threads { threads.run(job) } else { job() }
  }

  /// Looks at the files now.
  func look() -> StepFiles.Verdict {
    let looks =
      shared.threads == nil
      ? shared.journals.looks(for: files.step) : shared.journals.newLooks(for: files.step)
    guard let look = files.look(looks, limit: .max, isForced: shared.isForced) else {
      preconditionFailure("Internal inconsistency: a file was not read that may be of any size")
    }
    state.withLock { $0.look = look }
    return look.verdict
  }

  /// Why it runs.
  var reason: String? {
    if case .outOfDate(let reason)? = verdict { reason } else { nil }
  }

  /// Called before it runs: it finds the folders of its outputs. Returns why it must not run, for example
  /// because its failure could not be remembered.
  func noteStart() -> String? {
    state.withLock { $0.start = (.now, .now) }
    return files.noteStart(plan: shared.journals.plan).map { "its start cannot be noted: \($0)" }
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
      let dependencies = files.step.readDependencies()
      if let problem = made?.problem(of: files.step, reading: dependencies ?? [], began: begin) {
        return completion(problem)
      }
      look(atResult: dependencies)
      completion(nil)
    }
  }

  private func look(atResult dependencies: [FilePath]?) {
    let (look, start) = state.withLock { ($0.look, $0.start) }
    guard let look, let start else { return }
    let result = files.result(
      since: look, began: start, dependencies: dependencies,
      shared.journals.newLooks(for: files.step), shared.journals.reader)
    state.withLock { $0.result = result }
    if case .uncertain(let event) = result { complain("\(event): the next run makes it again") }
  }

  /// Returns what went wrong, in a sentence: then it runs again the next time.
  func noteSuccess() -> String? {
    switch state.withLock({ $0.result }) {
    case .complete(let success): files.note(success, plan: shared.journals.plan)
    case .uncertain(let event): files.noteStart(plan: shared.journals.plan, doubt: event)
    case nil: nil
    }
  }
}

import Dispatch
internal import ProcedurePrimitives
import Procedures
import ProceduresProcess

/// Decides whether a step must run, and remembers how it ended.
///
/// ```
/// look → (begins) note its start → (its program succeeded) check outputs → (it has succeeded)
/// read what it has read and made → note its success
/// ```
///
/// Files are looked up and read on threads for that, since some file systems are slow, and the
/// thread of the steps must not block.
final class StepFreshness: Sendable {
  /// The state that the steps of a run share.
  struct Shared: Sendable {
    let journals: RunJournals
    let others: OtherOutputs
    /// nil if nothing runs.
    let threads: HandlerThreads?
    /// Whether steps run even if they are up to date.
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
    /// The start, by the clock of files and by the clock of this process.
    var start: (files: FileTime, clock: ContinuousClock.Instant)?
    /// The files that the `depfile` of the last successful attempt names, as `check` found them.
    var checked: Checked?
    /// The files of that attempt.
    var result: StepFiles.Result?
  }

  private struct Checked {
    /// nil if the `depfile` cannot be read.
    let dependencies: [FilePath]?
  }

  /// - Parameters:
  ///   - look: an earlier look, if it still holds when the step begins.
  ///   - made: tells which files of the run were made at a time; nil for a step without a
  ///     `depfile`.
  ///   - complain: called with a sentence about a success that does not count.
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

  /// The verdict of the last look.
  var verdict: StepFiles.Verdict? { state.withLock { $0.look?.verdict } }

  /// A digest of the contents of its inputs at the last look.
  var inputMarks: String {
    let inputs = state.withLock { $0.look?.inputs } ?? []
    var marks = Fingerprint()
    for input in inputs { marks.add(input?.digest.value ?? 0) }
    return marks.text
  }

  /// Looks up the files, and calls back on another thread.
  func look(_ completion: @escaping @Sendable (StepFiles.Verdict) -> Void) {
    run { [self] in completion(look()) }
  }

  private func run(_ job: @escaping @Sendable () -> Void) {
    if let threads = shared.threads { threads.run(job) } else { job() }
  }

  /// Looks up the files on this thread.
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

  /// The reason why it runs.
  var reason: String? {
    if case .outOfDate(let reason)? = verdict { reason } else { nil }
  }

  /// Call it before the step runs. It creates the folders of the outputs. Returns the reason why
  /// the step must not run, such as a journal that cannot be written.
  func noteStart() -> String? {
    state.withLock { $0.start = (.now, .now) }
    return files.noteStart(plan: shared.journals.plan).map { "its start cannot be noted: \($0)" }
      ?? files.makeFolders()
  }

  /// Call it when the program has succeeded. It calls back with the reason if the step has failed
  /// all the same: an output is missing, or it has read a file before another step made it.
  ///
  /// It reads no contents, which may take long: the time limit of the step goes on.
  ///
  /// - Parameters:
  ///   - begin: the start of the program.
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
      state.withLock { $0.checked = Checked(dependencies: dependencies) }
      completion(nil)
    }
  }

  /// Call it when the step has succeeded, before `noteSuccess`. It reads its files, and calls back
  /// when that is done or the token is cancelled: then the success does not count.
  func readFiles(
    until token: CancellationToken, _ completion: @escaping @Sendable () -> Void
  ) {
    let (look, start, checked) = state.withLock { ($0.look, $0.start, $0.checked) }
    guard let look, let start, let checked else { return completion() }
    let end = { @Sendable [self] (result: StepFiles.Result) in
      let isFirst = state.withLock { state in
        defer { state.result = state.result ?? result }
        return state.result == nil
      }
      guard isFirst else { return }
      if case .uncertain(let event) = result { complain("\(event): the next run makes it again") }
      completion()
    }
    let cancel = token.onCancel(on: .main) {
      end(.uncertain("the run was stopped before its outputs were read"))
    }
    run { [self] in
      end(
        files.result(
          since: look, began: start, dependencies: checked.dependencies,
          shared.journals.newLooks(for: files.step), shared.journals.reader))
      cancel.remove()
    }
  }

  /// Notes the success, or the reason why the step must run again. Returns the reason if that
  /// cannot be noted.
  func noteSuccess() -> String? {
    switch state.withLock({ $0.result }) {
    case .complete(let success): files.note(success, plan: shared.journals.plan)
    case .uncertain(let event): files.noteStart(plan: shared.journals.plan, doubt: event)
    case nil: nil
    }
  }
}

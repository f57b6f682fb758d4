internal import ProcedurePrimitives

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The files that a step reads and makes, and the decision whether it must run because of them.
///
/// | record | inputs | outputs | verdict |
/// |---|---|---|---|
/// | any | one is missing | any | refused |
/// | none, or of a failure | any | any | runs |
/// | of another command, other variables or names | any | any | runs |
/// | of the same | one has changed, or a file of the `depfile` is missing | any | runs |
/// | of the same | unchanged | one is missing, or has changed | runs |
/// | of the same | unchanged | unchanged | up to date |
struct StepFiles: Sendable {
  enum Verdict: Equatable, Sendable {
    case upToDate
    case outOfDate(because: String)
    /// It cannot run.
    case refused(because: String)
  }

  /// The files at one moment.
  struct Look: Sendable {
    let verdict: Verdict
    /// The inputs, in order; nil for one that could not be read. Empty if the step does not run.
    let inputs: [FileLooks.Seen?]
    /// The looks, which include the files that its `depfile` named before; nil if the step does not
    /// run.
    let looks: FileLooks?
  }

  /// The files of a success.
  struct Success: Sendable {
    let inputs: [RunJournal.Content]
    let outputs: [RunJournal.Content]
    let dependencies: [RunJournal.Content]?
  }

  /// The files after the step has ended.
  enum Result: Sendable {
    case complete(Success)
    /// The next run makes it again, for this reason.
    case uncertain(String)
  }

  let step: Step
  let identity: StepIdentity
  let journal: RunJournal
  private let others: OtherOutputs
  /// The inputs without files that the step makes itself.
  private let inputs: [String]
  private let outputPaths: [FilePath]
  private let own: OwnOutputs
  private let keys: RecordKeys

  init(of step: Step, _ journals: RunJournals, _ others: OtherOutputs) {
    self.step = step
    self.others = others
    journal = journals.journal(of: step)
    identity = StepIdentity(of: step)
    let outputPaths = step.outputs.map { step.path(of: $0) }
    self.outputPaths = outputPaths
    let own = OwnOutputs(step.madePaths)
    self.own = own
    keys = RecordKeys(of: step, outputPaths)
    let isOfOther = { (path: FilePath) in others.contain(path, notOf: step.name) }
    inputs = step.inputs.filter { !own.make(step.path(of: $0), unless: isOfOther) }
  }

  // MARK: Before it runs

  /// Looks up the files.
  ///
  /// - Parameters:
  ///   - limit: the size of the largest file that is read.
  ///   - isForced: whether it runs even if it is up to date.
  /// - Returns: nil if a larger file must be read.
  func look(_ looks: FileLooks, limit: Int, isForced: Bool = false) -> Look? {
    let reason: String?
    do throws(NotRead) {
      reason = try self.reason(looks, limit) ?? (isForced ? "--force" : nil)
    } catch {
      return nil
    }
    guard let reason else { return Look(verdict: .upToDate, inputs: [], looks: nil) }
    // The step runs and reads its inputs, so their present contents belong to its outputs.
    var seen: [FileLooks.Seen?] = []
    seen.reserveCapacity(inputs.count)
    for (input, file) in zip(inputs, inputFiles) {
      switch found(file, looks.look(at: file, limit: limit), looks, limit, isOutput: false) {
      case .seen(let now): seen.append(now)
      case .notRead: return nil
      case .unreadable, .folder: seen.append(nil)
      case .problem(let problem):
        let sentence = Self.sentence(about: problem, input)
        return Look(verdict: .refused(because: sentence), inputs: [], looks: nil)
      }
    }
    if case .succeeded(let success)? = journal.record(at: keys) {
      let dependencies = success.dependencies.map(journal.files) ?? []
      for found in looks.look(at: dependencies.map(\.file), limit: limit) {
        if case .notRead = found { return nil }
      }
    }
    return Look(verdict: .outOfDate(because: reason), inputs: seen, looks: looks)
  }

  private struct NotRead: Error {}

  private static func sentence(about problem: FileProblem, _ input: String) -> String {
    switch problem {
    case .missing: "the input '\(input.visible)' does not exist"
    case .refused(let reason): "the input '\(input.visible)' cannot be looked at: \(reason)"
    }
  }

  /// The reason why it runs; nil if it is up to date.
  private func reason(_ looks: FileLooks, _ limit: Int) throws(NotRead) -> String? {
    guard let record = journal.record(at: keys) else {
      if let problem = journal.problem { return "what it did before is not known: \(problem)" }
      let missing = missingOutput(looks)
      return missing.map { "'\($0)' is not there" }
        ?? "it is not known to have succeeded"
    }
    let success: StepRecord.Success
    switch record {
    case .succeeded(let last): success = last
    case .started(let start):
      return start.doubt.map { "the last time \($0)" } ?? "it did not end well the last time"
    }
    if let output = missingOutput(looks) { return "'\(output)' is not there" }
    if success.identity != identity {
      return success.identity.command != identity.command
        ? "its command or its directory is another than the last time"
        : success.identity.files != identity.files
          ? "the names of its inputs or outputs are others than the last time"
          : "its variables are others than the last time"
    }
    if let (file, found) = try difference(success.inputs, looks, limit, isOutput: false) {
      return sentence(about: file, found, "is another than the last time")
    }
    if let dependencies = success.dependencies,
      let (file, found) = try difference(dependencies, looks, limit, isOutput: false)
    {
      return sentence(
        about: file, found, "is another than the last time", missing: ", which its depfile names,")
    }
    if let (file, found) = try difference(success.outputs, looks, limit, isOutput: true) {
      return sentence(about: file, found, "is not as the step left it")
    }
    return nil
  }

  /// The first missing output, for a sentence.
  private func missingOutput(_ looks: FileLooks) -> String? {
    let files = journal.numbers(of: outputPaths)
    for (output, file) in zip(step.outputs, files) {
      if case .problem = looks.look(at: file, limit: FileReader.small) { return output.visible }
    }
    return nil
  }

  private func difference(
    _ versions: VersionList, _ looks: FileLooks, _ limit: Int, isOutput: Bool
  ) throws(NotRead) -> (Int32, FileLooks.Found)? {
    let comparison = looks.compare(versions, limit: limit) { file, look in
      found(file, look, looks, limit, isOutput: isOutput)
    }
    guard case .other(let file, let found) = comparison else { return nil }
    if case .notRead = found { throw NotRead() }
    return (file, found)
  }

  private func sentence(
    about file: Int32, _ found: FileLooks.Found, _ other: String, missing words: String = ""
  ) -> String {
    let name = shown(file)
    return switch found {
    case .problem(.missing): "'\(name)'\(words) is not there"
    case .problem(.refused(let reason)): "'\(name)' cannot be looked at: \(reason)"
    case .unreadable(let path): "'\(path.visible)' cannot be read"
    case .seen, .folder, .notRead: "'\(name)' \(other)"
    }
  }

  private func shown(_ file: Int32) -> String { step.shown(journal.path(of: file)) }

  private var inputFiles: [Int32] { journal.numbers(of: inputs.map { step.path(of: $0) }) }

  /// The state of a file or folder, as far as it counts for this step.
  ///
  /// - Parameter note: called with each file of an output folder.
  private func found(
    _ file: Int32, _ look: FileLooks.Found, _ looks: FileLooks, _ limit: Int, isOutput: Bool,
    noting note: (FileStamp) -> Void = { _ in }
  ) -> FileLooks.Found {
    guard case .folder(let status) = look else { return look }
    if isOutput {
      return looks.walk(
        file, status, limit: limit, mayLeaveOut: { others.areBelow($0, notOf: step.name) },
        isLeftOut: { others.contain($0, notOf: step.name) }, noting: note)
    }
    return looks.walk(
      file, status, limit: limit, mayLeaveOut: own.areBelow, isLeftOut: own.contain)
  }

  /// The outputs of the step, which do not count in a folder that it reads.
  private final class OwnOutputs: Sendable {
    private let paths: [FilePath]
    /// nil until it is needed: few steps read folders.
    private let known = Locked<Set<FilePath>?>(nil)

    init(_ paths: [FilePath]) { self.paths = paths.map(\.shortest) }

    /// Whether a file is one of them, or in one, unless another step makes the file in there.
    func make(_ path: FilePath, unless isOfOther: (FilePath) -> Bool) -> Bool {
      let path = path.shortest
      guard let own = paths.first(where: { path == $0 || path.isBelow($0) }) else { return false }
      var above: FilePath? = path
      while let part = above, part != own {
        if isOfOther(part) { return false }
        above = part.folder
      }
      return true
    }

    func contain(_ path: FilePath) -> Bool { all.contains(path.shortest) }

    func areBelow(_ folder: FilePath) -> Bool {
      let folder = folder.shortest
      return all.contains { $0.isBelow(folder) }
    }

    private var all: Set<FilePath> {
      known.withLock { known in
        // A file behind a link also has its resolved path.
        let all =
          known
          ?? Set(
            paths.flatMap { path in
              let folder = path.folder.flatMap { $0.length == 0 ? FilePath(".") : $0 }?.resolved
              let name = path.bytes.split(separator: UInt8(ascii: "/")).last ?? []
              return [path] + (folder.map { [$0.appending(name)] } ?? [])
            })
        known = all
        return all
      }
    }
  }

  // MARK: When it has run

  /// Creates the folders of its outputs. Returns the reason if that fails.
  func makeFolders() -> String? {
    for output in step.outputs {
      guard let folder = step.path(of: output).folder, folder.length > 0 else { continue }
      if let reason = Directory.make(String(decoding: folder.bytes, as: UTF8.self)) {
        return "the folder of '\(output.visible)' cannot be made: \(reason)"
      }
    }
    return nil
  }

  /// The outputs that are missing after it has succeeded.
  var missingOutputs: [String] {
    step.madeNames.filter { (try? FileStatus(step.path(of: $0))) == nil }
  }

  /// The outputs that are missing after it has succeeded on another machine. They may become
  /// visible here a moment later, and in a network file system only after their folder was read.
  func missingOutputs(patience: Duration) -> [String] {
    let end = ContinuousClock.now + patience
    while true {
      let missing = missingOutputs
      guard !missing.isEmpty, ContinuousClock.now < end else { return missing }
      for output in missing {
        _ = Directory.entries(in: step.path(of: output).folder ?? FilePath("."))
      }
      usleep(50_000)
    }
  }

  /// The inputs and outputs of a success.
  ///
  /// The step may have read an input that was changed after its start before or after that change.
  /// Then the result is uncertain.
  ///
  /// - Parameters:
  ///   - look: the look before it began.
  ///   - began: the time of its start, by the clock of files and by the clock of this process.
  ///   - dependencies: the files that its `depfile` names; nil if it cannot be read.
  func result(
    since look: Look, began: (files: FileTime, clock: ContinuousClock.Instant),
    dependencies: [FilePath]?, _ looks: FileLooks, _ reader: FileReader
  ) -> Result {
    var (inputs, outputs): ([RunJournal.Content], [RunJournal.Content]) = ([], [])
    // 1. Inputs must be unchanged since the look.
    guard look.inputs.count == self.inputs.count else {
      return .uncertain("its inputs were not looked at before it ran")
    }
    for ((input, file), before) in zip(zip(self.inputs, inputFiles), look.inputs) {
      guard let before else {
        return .uncertain("the input '\(input.visible)' could not be read")
      }
      let now = found(file, looks.look(at: file, limit: .max), looks, .max, isOutput: false)
      guard case .seen(let now) = now, Self.isSame(before, now) else {
        return .uncertain("the input '\(input.visible)' was changed while it ran")
      }
      inputs.append((file, before.digest))
    }
    // 2. So must the files of its depfile. Those that it did not name before must be older than the
    //    start.
    guard let dependencies else {
      return .uncertain(
        "its depfile '\((step.depfile ?? "").visible)' was not of the form that make reads")
    }
    let files = journal.numbers(of: dependencies)
    var read: [RunJournal.Content] = []
    for ((path, file), now) in zip(
      zip(dependencies, files), looks.look(at: files, limit: .max))
    {
      if own.make(path, unless: { others.contain($0, notOf: step.name) }) { continue }
      switch found(file, now, looks, .max, isOutput: false) {
      case .seen(let now):
        let isOld =
          look.looks?.known(file).map { Self.isSame($0, now) }
          ?? (now.changeTime < began.files
            || reader.wasMade(now.stamp, before: began.clock))
        guard isOld else {
          return .uncertain(
            "'\(shown(file))', which its depfile names, may have been changed while it ran"
          )
        }
        read.append((file, now.digest))
      case .problem(.missing):
        return .uncertain(
          "its depfile named '\(shown(file))', which was not there")
      case .problem, .unreadable, .folder, .notRead:
        return .uncertain(
          "'\(shown(file))', which its depfile names, could not be read")
      }
    }
    // 3. Outputs are final, since no program of the step runs any more.
    for (output, file) in zip(step.madeNames, journal.numbers(of: step.madePaths)) {
      let now = found(
        file, looks.look(at: file, limit: .max), looks, .max, isOutput: true,
        noting: reader.noteMade)
      guard case .seen(let now) = now else {
        return .uncertain("its output '\(output.visible)' could not be read")
      }
      outputs.append((file, now.digest))
      reader.noteMade(now.stamp)
    }
    return .complete(
      Success(
        inputs: inputs, outputs: outputs, dependencies: step.depfile == nil ? nil : read))
  }

  /// Whether a file was not changed in between. A new link to it, or another permission, does not
  /// count as a change.
  private static func isSame(_ before: FileLooks.Seen, _ now: FileLooks.Seen) -> Bool {
    before.digest == now.digest
      && (before.stamp.all == now.stamp.all || before.stamp.body == now.stamp.body)
  }

  // MARK: What is remembered

  /// - Parameter doubt: the reason why its success does not count; nil at the start.
  func noteStart(plan: FilePath, doubt: String? = nil) -> String? {
    let made = doubt == nil ? step.madePaths : []
    let inputs = Set(step.inputs.map { step.path(of: $0).shortest })
    let isRead = { (path: FilePath) in inputs.contains(path.shortest) }
    return journal.noteStart(
      of: step.name, identity, makes: outputPaths,
      empty: made.filter { !isRead($0) && isEmpty($0) }, read: made.filter(isRead), plan: plan,
      doubt: doubt)
  }

  /// Whether nothing is at a path, or a folder without files, but for those of other steps.
  private func isEmpty(_ path: FilePath) -> Bool {
    guard let status = try? FileStatus(path, followsLinks: false) else { return true }
    guard status.kind == .folder, let entries = Directory.entries(in: path) else { return false }
    return entries.allSatisfy { name in
      let entry = path.appending(name.bytes)
      return others.contain(entry, notOf: step.name) || own.contain(entry) || isEmpty(entry)
    }
  }

  func note(_ success: Success, plan: FilePath) -> String? {
    journal.noteSuccess(
      of: step.name, identity, inputs: success.inputs, outputs: success.outputs,
      dependencies: success.dependencies, plan: plan)
  }
}

extension RecordKeys {
  init(of step: Step, _ outputPaths: [FilePath]) {
    self = outputPaths.isEmpty ? .name(step.name) : .outputs(outputPaths.map(\.shortest))
  }
}

extension Step {
  /// Whether it has a record, so that it can be up to date.
  var isRemembered: Bool { !outputs.isEmpty || !inputs.isEmpty || self.depfile != nil }
}

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The files that a step reads and makes, and whether it has to run because of them.
struct StepFiles: Sendable {
  enum Verdict: Equatable, Sendable {
    case upToDate
    case outOfDate(because: String)
    /// It cannot run.
    case refused(because: String)
  }

  /// What was found at one moment.
  struct Look: Sendable {
    let verdict: Verdict
    /// nil when they could not be looked at.
    var marks: FileMarks?
  }

  let step: Step
  /// Contents decide; nil where times do.
  private let digests: FileDigests?
  private let command: Fingerprint
  /// nil where files may have been changed since.
  private let found: FoundFiles?

  /// - Parameters:
  ///   - digests: nil if times decide, and not contents.
  ///   - found: files that were looked at before; nil while steps run.
  init(of step: Step, digests: FileDigests?, found: FoundFiles? = nil) {
    self.step = step
    self.digests = digests
    self.found = found
    command = Self.command(of: step)
  }

  /// Looks at the files, each once.
  func look(after record: RunJournal.Record?) -> Look {
    look(after: record, mayRead: true) ?? Look(verdict: .outOfDate(because: ""))
  }

  /// The same; nil when contents are to be compared that only reading tells, and it may not read.
  func look(after record: RunJournal.Record?, mayRead: Bool) -> Look? {
    let inputs: [FileTree]
    do throws(InputProblem) {
      inputs = try inputTrees()
    } catch {
      return Look(verdict: .refused(because: error.sentence))
    }
    let found = dependencies()
    var marks = FileMarks(inputs: marks(of: inputs))
    marks.dependencies = found.flatMap(marksOfDependencies)
    do throws(FileDigests.NotRead) {
      let reason = try reason(inputs, found, marks, record, mayRead: mayRead)
      let verdict: Verdict = reason.map { .outOfDate(because: $0) } ?? .upToDate
      return Look(verdict: verdict, marks: marks)
    } catch {
      return nil
    }
  }

  /// Of the outputs those that are not there, when it has succeeded.
  var missingOutputs: [String] {
    (step.outputs + [step.depfile].compactMap { $0 })
      .filter { (try? FileStatus(path($0))) == nil }
  }

  /// The same of a step that ran on another machine: what was made there may be seen here a moment later, and in a
  /// file system of the network not before its folder was read.
  func missingOutputs(patience: Duration) -> [String] {
    let end = ContinuousClock.now + patience
    while true {
      let missing = missingOutputs
      guard !missing.isEmpty, ContinuousClock.now < end else { return missing }
      for output in missing {
        let file = path(output)
        let folder = file.lastIndex(of: "/").map { file[...$0] } ?? "."
        _ = Directory.names(in: String(folder))
      }
      usleep(50_000)
    }
  }

  /// What to remember when the step has succeeded.
  ///
  /// An input that was changed since it began may have been read before or after that, so the step counts
  /// as made from what was there at the start.
  ///
  /// - Parameters:
  ///   - look: made before it began.
  ///   - start: when it began. What only its new `depfile` names was not looked at before.
  func entry(since look: Look, began start: FileTime) -> RunJournal.Entry {
    let found = dependencies()
    let isOld = found.map { !isChanged($0, since: look, began: start) } ?? false
    let marks = FileMarks(
      inputs: look.marks?.inputs ?? Fingerprint(),
      dependencies: isOld ? found.flatMap(marksOfDependencies) : nil,
      isUncertain: !isOld || look.marks == nil)
    let unknown = RunJournal.Entry(command: command, marks: marks, content: nil)
    guard isOld, let digests, let inputs = try? inputTrees(),
      self.marks(of: inputs) == marks.inputs
    else { return unknown }
    let content = try? content(inputs + (found ?? []), digests, mayRead: true)
    return RunJournal.Entry(command: command, marks: marks, content: content)
  }

  /// Whether an input is another one than it was when the step began.
  func hasChangedInput(since look: Look) -> Bool {
    guard !step.inputs.isEmpty else { return false }
    guard let inputs = try? inputTrees() else { return true }
    return marks(of: inputs) != look.marks?.inputs
  }

  /// Files that the `depfile` named before have not changed if they look the same. For new ones only the time tells.
  private func isChanged(_ found: [FileTree], since look: Look, began start: FileTime) -> Bool {
    marksOfDependencies(found) != look.marks?.dependencies
      && found.contains { ($0.newest ?? start) > start }
  }

  // MARK: Why it runs

  private func reason(
    _ inputs: [FileTree], _ found: [FileTree]?, _ marks: FileMarks, _ record: RunJournal.Record?,
    mayRead: Bool
  ) throws(FileDigests.NotRead) -> String? {
    var oldest: FileTime?
    for output in step.outputs {
      guard let tree = try? FileTree(path(output)) else {
        return "'\(output.visible)' is not there"
      }
      if let time = tree.newest { oldest = oldest.map { min($0, time) } ?? time }
    }
    guard let found else {
      return "what its depfile names is not there, or not readable"
    }
    let newer =
      newerInput(inputs, than: oldest)
      ?? found.first { tree in oldest.map { (tree.newest ?? $0) > $0 } ?? false }?.files.first?.path
    switch record {
    case .started?:
      return "it did not end well the last time"
    case .succeeded(let entry)?:
      guard entry.command == command else {
        return "its command, its variables or the names of its files are others than the last time"
      }
      if let digests {
        guard let content = entry.content else { return "the contents of its files are not known" }
        return content == (try self.content(inputs + found, digests, mayRead: mayRead))
          ? nil : "an input or output has other contents than the last time"
      }
      if let newer { return "'\(newer.visible)' is newer than what is made from it" }
      return entry.marks == marks
        ? nil : "an input was changed since it began the last time"
    case nil:
      // Not made by us, as far as is known; its contents cannot be known to be the right ones.
      guard digests == nil else { return "the contents of its files are not known" }
      return newer.map { "'\($0.visible)' is newer than what is made from it" }
    }
  }

  /// The first input that is newer than the oldest output.
  private func newerInput(_ inputs: [FileTree], than oldest: FileTime?) -> String? {
    guard let oldest else { return nil }
    return zip(step.inputs, inputs).first { _, tree in tree.newest.map { $0 > oldest } ?? false }?.0
  }

  // MARK: The files

  private struct InputProblem: Error {
    let sentence: String
  }

  private func inputTrees() throws(InputProblem) -> [FileTree] {
    var trees: [FileTree] = []
    trees.reserveCapacity(step.inputs.count)
    for input in step.inputs {
      do throws(FileProblem) {
        trees.append(try tree(path(input)))
      } catch {
        switch error {
        case .missing:
          throw InputProblem(sentence: "the input '\(input.visible)' does not exist")
        case .refused(let reason):
          throw InputProblem(
            sentence: "the input '\(input.visible)' cannot be looked at: \(reason)")
        }
      }
    }
    return trees
  }

  /// What its `depfile` names: nothing without one, nil when some of that is missing.
  private func dependencies() -> [FileTree]? {
    guard let files = step.dependencies else { return nil }
    let trees = files.compactMap { try? FileTree(path($0)) }
    return trees.count == files.count ? trees : nil
  }

  /// In a folder that it reads what it makes does not count.
  private func tree(_ path: String) throws(FileProblem) -> FileTree {
    if let found { return try found.tree(path, without: outputPaths) }
    return try FileTree(path, without: outputPaths)
  }

  private var outputPaths: Set<String> { Set(step.outputs.map(path)) }

  private func marksOfDependencies(_ trees: [FileTree]) -> Fingerprint? {
    step.depfile == nil ? nil : marks(of: trees)
  }

  private func marks(of trees: [FileTree]) -> Fingerprint {
    var fingerprint = Fingerprint()
    for tree in trees { tree.addMarks(to: &fingerprint) }
    return fingerprint
  }

  /// nil when one of the files cannot be read.
  private func content(
    _ inputs: [FileTree], _ digests: FileDigests, mayRead: Bool
  ) throws(FileDigests.NotRead) -> Fingerprint? {
    var fingerprint = Fingerprint()
    for tree in inputs + step.outputs.compactMap({ try? FileTree(path($0)) }) {
      guard try digests.add(tree, to: &fingerprint, mayRead: mayRead) else { return nil }
    }
    return fingerprint
  }

  /// Makes the folders that its outputs are in. Returns why that cannot be done.
  func makeFolders() -> String? {
    for output in step.outputs {
      guard let end = path(output).lastIndex(of: "/") else { continue }
      let folder = String(path(output)[..<end])
      if !folder.isEmpty, let reason = Directory.make(folder) {
        return "the folder of '\(output.visible)' cannot be made: \(reason)"
      }
    }
    return nil
  }

  private func path(_ file: String) -> String { step.path(of: file) }

  /// Stands for what it runs, and with what.
  static func command(of step: Step) -> Fingerprint {
    var fingerprint = Fingerprint()
    fingerprint.add(step.run)
    fingerprint.add(step.stopsAtFailingLine ? 1 : 0)
    fingerprint.add(step.directory ?? "")
    if !step.environment.isEmpty {
      for (name, value) in step.environment.sorted(by: { $0.key < $1.key }) {
        fingerprint.add(name)
        fingerprint.add(value)
      }
    }
    fingerprint.add(step.inputs)
    fingerprint.add(step.outputs)
    fingerprint.add(step.depfile.map { [$0] } ?? [])
    return fingerprint
  }
}

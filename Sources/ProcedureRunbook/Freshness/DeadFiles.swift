#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Files that a plan has made and no longer makes: their steps were removed, or name other outputs
/// now.
///
/// A file is dead when all of this holds:
/// 1. The step that made it last belonged to this plan, to a plan whose file was removed, or to a
///    file that this plan and others include.
/// 2. No living step makes it, a folder above it, or a file in it, by any path that leads there.
///    Living steps are those of this plan, and of all other plans that were run here or are beside
///    it.
/// 3. No living step names it among its inputs, or has read it, by its `depfile`.
/// 4. Nothing of others was there when its step first began, and its step did not read it: else it
///    is the user's. A folder with such files in it stays as well, and `--prune` says so.
struct DeadFiles {
  struct File {
    let path: FilePath
    let step: Name
    /// Whether the plan still has a step of that name.
    let isRenamed: Bool
    let journal: RunJournal
    /// The digest that the step left; nil if the step did not succeed.
    let digest: Fingerprint?
    /// Whether all in it is of steps. Always true but for folders.
    let wasEmpty: Bool
  }

  let files: [File]
  /// The inputs of the plan's steps: one may be a folder with such files.
  private let readers: [(input: FilePath, step: Name)]
  private let looks: [ObjectIdentifier: FileLooks]
  /// nil if there are no such files.
  private let living: Living?

  init(_ plan: Plan, _ journals: RunJournals) {
    var candidates: [File] = []
    // 1. Collect files that this plan does not make. Most plans have none.
    let outputs = Set(plan.steps.flatMap { $0.madePaths.map(\.shortest) })
    let names = Set(plan.steps.map(\.name))
    let all = journals.all(of: plan.steps)
    for journal in all {
      for made in journal.made(notIn: outputs)
      where journals.isOfThisPlan(made, orShared: journal) {
        for file in journal.files(of: made) where !outputs.contains(file.path) {
          guard (try? FileStatus(file.path, followsLinks: false)) != nil,
            file.wasEmpty || (try? FileStatus(file.path))?.kind == .folder
          else { continue }
          candidates.append(
            File(
              path: file.path, step: file.step, isRenamed: names.contains(file.step),
              journal: journal, digest: file.digest, wasEmpty: file.wasEmpty))
        }
      }
    }
    guard !candidates.isEmpty else {
      (files, readers, looks, living) = ([], [], [:], nil)
      return
    }
    // 2. Leave out files that other plans make or read, and those that have another path now.
    let living = Living(plan, all, journals.plan)
    self.living = living
    // The files of a folder come before the folder.
    files = candidates.filter { !living.needs($0.path) }.sorted { $0.path > $1.path }
    readers = plan.steps.flatMap { step in
      step.inputs.map { (living.real(step.path(of: $0)), step.name) }
    }
    looks = Dictionary(
      files.map {
        (ObjectIdentifier($0.journal), FileLooks($0.journal, journals.reader, isShared: false))
      }
    ) { first, _ in first }
  }

  // MARK: Words

  /// Sentences that name the first few. They leave out files that have changed since, and folders
  /// with files that were there before: those belong to the user.
  func sentences(from directory: FilePath) -> [String] {
    let most = 5
    let files = files.reversed().filter { $0.wasEmpty && isAsLeft($0) }
    var sentences = files.prefix(most).map { file in
      "'\(Self.shown(file.path, directory))' was made by step '\(file.step.visible)', "
        + (file.isRenamed
          ? "which makes other files now" : "which is not in the plan any more")
        + (reader(of: file.path).map { "; '\($0.visible)' still reads it, with its folder" } ?? "")
        + "; --prune removes it"
    }
    if files.count > most {
      sentences.append(
        "and \(files.count - most) more files are of steps that do not make them any more")
    }
    return sentences + (living?.problems ?? [])
  }

  private func reader(of file: FilePath) -> Name? {
    guard let file = living?.real(file) else { return nil }
    return readers.first { file.isBelow($0.input) }?.step
  }

  private static func shown(_ path: FilePath, _ directory: FilePath) -> String {
    path.name(in: directory).map { FilePath($0).visible } ?? path.visible
  }

  // MARK: Removal

  /// Removes them, except files that have changed since, and folders that others may have filled.
  ///
  /// - Parameter isPreview: whether it only reports.
  /// - Returns: the lines about removed files, and the problems.
  func remove(from directory: FilePath, isPreview: Bool) -> (lines: [String], problems: [String]) {
    var (lines, problems): ([String], [String]) = ([], living?.problems ?? [])
    for file in files {
      let name = "'\(Self.shown(file.path, directory))'"
      let maker = "step '\(file.step.visible)'"
      guard file.wasEmpty else {
        problems.append(
          "\(name) is not known to have been empty before \(maker) made it, and stays: "
            + "remove in it what you do not need")
        continue
      }
      guard isAsLeft(file) else {
        problems.append(
          "\(name) is not as \(maker) left it, and stays: remove it if you do not need it")
        continue
      }
      if isPreview {
        lines.append("would remove \(name), which \(maker) had made")
      } else if let reason = remove(file.path) {
        problems.append("\(name) cannot be removed: \(reason)")
      } else {
        lines.append("removed \(name), which \(maker) had made")
        if let problem = file.journal.forget(file.path) { problems.append(problem) }
      }
    }
    return (lines, problems)
  }

  /// Whether the file is unchanged. A file of a step that failed counts as unchanged.
  private func isAsLeft(_ file: File) -> Bool {
    guard let digest = file.digest else { return true }
    guard let looks = looks[ObjectIdentifier(file.journal)],
      let number = file.journal.numbers(of: [file.path]).first
    else { return false }
    var found = looks.look(at: number, limit: .max)
    if case .folder(let status) = found {
      found = looks.walk(
        number, status, limit: .max, mayLeaveOut: { living?.makesBelow($0) ?? false },
        isLeftOut: { living?.makes($0) ?? false })
    }
    if case .seen(let now) = found { return now.digest == digest }
    return false
  }

  /// Removes a file or folder, except the outputs of living steps in it. A link is removed, not its
  /// target.
  private func remove(_ path: FilePath) -> String? {
    if living?.makes(path) ?? false { return nil }
    guard let status = try? FileStatus(path, followsLinks: false) else { return nil }
    guard status.kind == .folder else {
      let code = unsafe path.withPointer { unsafe unlink($0) }
      return code == 0 || errno == ENOENT ? nil : unsafe String(cString: strerror(errno))
    }
    for entry in Directory.entries(in: path) ?? [] {
      if let reason = remove(path.appending(entry.bytes)) { return reason }
    }
    let code = unsafe path.withPointer { unsafe rmdir($0) }
    return code == 0 || errno == ENOENT ? nil : unsafe String(cString: strerror(errno))
  }
}

/// The steps of all plans that some directories are known to have.
private struct Living {
  /// Sentences about plans that cannot be read.
  let problems: [String]
  private let makers: [FileMakers]
  private let realPaths = RealPaths()
  /// Real paths of outputs, and of inputs with what they lead to.
  private let outputs: Set<FilePath>
  private let inputs: Set<FilePath>
  /// Whether a plan cannot be read, so that its outputs are unknown.
  private let isUncertain: Bool

  init(_ plan: Plan, _ journals: [RunJournal], _ path: FilePath) {
    var (plans, problems) = ([plan], [String]())
    var isUncertain = false
    let known = Set(journals.flatMap(\.plans)).subtracting([RunJournals.noPlan])
    let beside = journals.flatMap { journal in
      (Directory.entries(in: journal.directory) ?? [])
        .filter { $0.bytes.suffix(5).elementsEqual(".json".utf8) }
        .map { journal.directory.appending($0.bytes) }
    }
    for path in known.union(beside).subtracting([path]).sorted() {
      guard InputFile(path).isThere else { continue }
      do throws(PlanError) {
        plans.append(try PlanFile.plan(in: InputFile(path)))
      } catch {
        // Many JSON files are not plans.
        guard known.contains(path) else { continue }
        isUncertain = true
        problems.append(
          "files of steps that are gone stay, since the plan '\(path.visible)' may need them: \(error)"
        )
      }
    }
    makers = plans.compactMap { try? FileMakers($0.steps) }
    let outputs = Set(plans.flatMap { $0.steps.flatMap { $0.madePaths.map(\.shortest) } })
    self.outputs = Set(outputs.map(realPaths.real))
    var inputs = Set(
      plans.flatMap { $0.steps.flatMap { step in step.inputs.map { step.path(of: $0) } } })
    for journal in journals {
      for made in journal.made(notIn: []) {
        guard case .succeeded(let success) = made.record,
          made.outputs.contains(where: outputs.contains)
        else { continue }
        for file in success.dependencies.map(journal.files) ?? [] {
          inputs.insert(journal.path(of: file.file))
        }
      }
    }
    self.inputs = inputs.reduce(into: []) { [realPaths] all, path in
      all.insert(realPaths.real(path))
      if let target = realPaths.target(path) { all.insert(target) }
    }
    (self.problems, self.isUncertain) = (problems, isUncertain)
  }

  func real(_ path: FilePath) -> FilePath { realPaths.real(path) }

  func makes(_ path: FilePath) -> Bool { outputs.contains(real(path)) }

  func makesBelow(_ folder: FilePath) -> Bool {
    let folder = real(folder)
    return outputs.contains { $0.isBelow(folder) }
  }

  /// Whether a living step makes or reads it.
  func needs(_ path: FilePath) -> Bool {
    let real = real(path)
    return isUncertain || outputs.contains(real) || inputs.contains(real)
      || inputs.contains { $0.isBelow(real) }
      || makers.contains { !$0.steps(makingItself: path).isEmpty }
  }
}

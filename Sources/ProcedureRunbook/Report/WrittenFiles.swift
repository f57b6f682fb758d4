/// The files that options write: each of them another one, and none a file of the plan.
///
/// Two paths are one file if links lead them to one. Pipes and devices may have several writers.
struct WrittenFiles {
  private typealias Place = OutputFile.Place

  private let files: [(option: String, path: String)]
  private let realPaths = RealPaths()
  private var indices: [Place: Int] = [:]

  init(_ options: Options) throws(UsageError) {
    files = options.outputFiles
    for (index, (option, text)) in files.enumerated() {
      let path = FilePath.normal(text, in: nil)
      if realPaths.real(path).isOfRunbook || realPaths.target(path)?.isOfRunbook == true {
        throw UsageError(
          "'\(option)' would write a file of runbook itself, '\(text.visible)'; name another file")
      }
      guard let place = Place(path, realPaths) else { continue }
      if let other = indices.updateValue(index, forKey: place).map({ files[$0] }) {
        throw UsageError(
          "'\(other.option)' and '\(option)' write one file, '\(other.path.visible)'; name another")
      }
    }
  }

  /// A sentence about an option that would overwrite the plan; nil if there is none.
  func problem(withPlan path: String?) -> String? {
    guard let path, path != "-" else { return nil }
    return problem(with: FilePath.normal(path, in: nil), "the plan")
  }

  /// A sentence about an option that would overwrite another file of the plan; nil if there is
  /// none. What a pattern finds does not count: a report may be among it.
  func problem(with plan: Plan, including includedPlans: Set<FilePath>) -> String? {
    guard !indices.isEmpty else { return nil }
    for path in includedPlans {
      if let problem = problem(with: path, "the included plan") { return problem }
    }
    var known: Set<FilePath> = []
    for step in plan.steps {
      var files = step.dotenvFiles.map { ("the variables", FilePath.normal($0, in: nil)) }
      files += step.madePaths.map { ("the output", $0) }
      files += step.inputs.map { ("the input", step.path(of: $0)) }.filter { _, path in
        !step.watches.contains { $0.findsInput(path) }
      }
      for (word, path) in files where known.insert(path).inserted {
        if let problem = problem(with: path, word, of: " of step '\(step.name.visible)'") {
          return problem
        }
      }
    }
    return nil
  }

  private func problem(with path: FilePath, _ word: String, of owner: String = "") -> String? {
    guard let (option, path) = Place(path, realPaths).flatMap({ indices[$0] }).map({ files[$0] })
    else { return nil }
    return "'\(option)' would overwrite \(word) '\(path.visible)'\(owner); name another file"
  }

  /// A sentence about a file that cannot be there; nil if there is none.
  var obstacle: String? {
    for (option, text) in files {
      let path = FilePath.normal(text, in: nil)
      let what = "'\(option)' cannot write '\(text.visible)'"
      let kind = (try? FileStatus(path))?.kind
      if kind == .folder || text.utf8.last == UInt8(ascii: "/") {
        return "\(what): it is a folder; name a file in it"
      }
      if kind != nil { continue }
      guard let folder = (realPaths.target(path) ?? path).folder, folder.length > 0,
        (try? FileStatus(folder))?.kind != .folder
      else { continue }
      return "\(what): there is no folder '\(folder.visible)'; make it first"
    }
    return nil
  }
}

/// Reads the plan of the command line, with the order that its depfiles give. It may be read again:
/// another run may have changed the plan, or files that its patterns find.
struct PlanReader {
  struct Result {
    /// The part with the targets and the steps that they need.
    let plan: Plan
    let full: Plan
    let secrets: Secrets
  }

  let journals: RunJournals
  private let file: InputFile
  /// The bytes of a plan that can be read once only, such as one from a pipe.
  private let bytes: [UInt8]?
  private let parameters: [String: String]
  private let targets: [Name]

  init(_ file: InputFile, parameters: [String: String], targets: [Name]) throws(PlanError) {
    (self.file, self.parameters, self.targets) = (file, parameters, targets)
    let path = file.resolved
    bytes = path == nil ? try file.contents() : nil
    journals = RunJournals(
      in: try PlanFile.directory(of: file), plan: path ?? RunJournals.noPlan)
  }

  func read() throws(PlanError) -> Result {
    // Locks that are free now tell later whether another run may have changed what is read here.
    journals.beginReading()
    let text = if let bytes { bytes } else { try file.contents() }
    let full = try PlanFile.plan(
      from: text, bytes == nil ? file.resolved : nil, directory: journals.directory,
      parameters: parameters, after: journals
    ).orderedByDepfiles(journals)
    let secrets = try Secrets(of: full)
    return Result(
      plan: try full.restricted(to: targets).hiding(secrets, asIn: full),
      full: try full.hiding(secrets, asIn: full), secrets: secrets)
  }
}

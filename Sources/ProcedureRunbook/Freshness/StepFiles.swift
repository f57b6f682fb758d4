/// The files that a step reads and makes, and whether it has to run because of them.
struct StepFiles: Sendable {
  enum Verdict: Equatable {
    case upToDate
    case outOfDate
    case missingInput(String)
  }

  private let step: Step
  let comparesContent: Bool

  /// - Parameter comparesContent: whether contents decide instead of times.
  init(of step: Step, comparesContent: Bool) {
    self.step = step
    self.comparesContent = comparesContent
  }

  func verdict(after record: RunJournal.Record?) -> Verdict {
    for input in step.inputs where FileAge(path(input)) == nil { return .missingInput(input) }
    switch record {
    case .started?:
      return .outOfDate
    case .succeeded(let entry)?:
      guard entry.command == command else { return .outOfDate }
      if comparesContent { return entry.content == content ? .upToDate : .outOfDate }
      return hasNewOutputs ? .upToDate : .outOfDate
    case nil:
      // Not made by us, as far as is known; its contents cannot be known to be the right ones.
      return !comparesContent && hasNewOutputs ? .upToDate : .outOfDate
    }
  }

  /// The digests to remember when the step has succeeded.
  var entry: RunJournal.Entry {
    RunJournal.Entry(command: command, content: comparesContent ? content ?? "" : "")
  }

  /// No output is older than an input.
  private var hasNewOutputs: Bool {
    var oldest: FileAge?
    for output in step.outputs {
      guard let age = FileAge(path(output)) else { return false }
      oldest = oldest.map { min($0, age) } ?? age
    }
    guard let oldest else { return false }
    return step.inputs.allSatisfy { FileAge(path($0)).map { $0 <= oldest } ?? false }
  }

  private var command: String {
    var fingerprint = Fingerprint()
    fingerprint.add(step.run.utf8)
    fingerprint.add((step.directory ?? "").utf8)
    for (name, value) in step.environment.sorted(by: { $0.key < $1.key }) {
      fingerprint.add(name.utf8)
      fingerprint.add(value.utf8)
    }
    return fingerprint.text
  }

  /// nil when one of the files cannot be read.
  private var content: String? {
    var fingerprint = Fingerprint()
    for file in step.inputs + step.outputs {
      fingerprint.add(file.utf8)
      guard fingerprint.addFile(path(file)) else { return nil }
    }
    return fingerprint.text
  }

  private func path(_ file: String) -> String {
    guard let directory = step.directory, !file.hasPrefix("/") else { return file }
    return directory + "/" + file
  }
}

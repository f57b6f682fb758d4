import Foundation

/// How each step ended, and how many failed.
final class RunRecord: @unchecked Sendable {
  struct Entry: Sendable {
    let step: Step
    let outcome: StepOutcome
    /// When its command was started first, since the run was.
    let start: Duration?
    let duration: Duration?
    let attempts: Int
    let lastOutput: [String]
  }

  let start = ContinuousClock.now
  let startDate = Date()
  private let lock = NSLock()
  private var entriesByName: [String: Entry] = [:]
  private var failures: [String] = []
  private var problems: [String] = []

  /// Returns how many steps have failed so far, this one included.
  func add(_ entry: Entry) -> Int {
    lock.withLock {
      entriesByName[entry.step.name] = entry
      if entry.outcome.isFailure { failures.append(entry.step.name) }
      return failures.count
    }
  }

  /// Something that is not a failure of a step, in a sentence.
  func note(problem: String) { lock.withLock { problems.append(problem) } }

  var allProblems: [String] { lock.withLock { problems } }

  func entry(of step: Step) -> Entry {
    lock.withLock { entriesByName[step.name] }
      ?? Entry(
        step: step, outcome: .notRun, start: nil, duration: nil, attempts: 0, lastOutput: [])
  }

  /// The failed steps with their last output, in the order in which they failed.
  var failed: [(name: String, output: [String])] {
    lock.withLock { failures.map { ($0, entriesByName[$0]?.lastOutput ?? []) } }
  }
}

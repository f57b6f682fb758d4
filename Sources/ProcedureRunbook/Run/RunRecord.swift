internal import ProcedurePrimitives

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How each step ended, and how many failed.
final class RunRecord: Sendable {
  struct Entry: Sendable {
    let name: Name
    let group: Name?
    let outcome: StepOutcome
    /// When its command was started first, since the run was; below zero for a job that an earlier run has handed in.
    let start: Duration?
    let duration: Duration?
    /// Of a service: how long the steps that need it waited for it.
    let untilReady: Duration?
    let attempts: Int
    let lastOutput: [String]

    /// The part of its duration that is in this run; nil if it did not run.
    var durationInRun: Duration? {
      guard let start, let duration else { return nil }
      return start < .zero ? max(.zero, duration + start) : duration
    }

    /// Of a step that did not run.
    init(_ step: Step, _ outcome: StepOutcome) {
      self.init(step, outcome, start: nil, duration: nil, attempts: 0, lastOutput: [])
    }

    init(
      _ step: Step, _ outcome: StepOutcome, start: Duration?, duration: Duration?,
      untilReady: Duration? = nil, attempts: Int, lastOutput: [String]
    ) {
      (name, group) = (step.name, step.group)
      (self.outcome, self.start, self.duration) = (outcome, start, duration)
      self.untilReady = untilReady
      (self.attempts, self.lastOutput) = (attempts, lastOutput)
    }
  }

  let start = ContinuousClock.now
  let startDate = Date()
  private let state = Locked(State())

  private struct State {
    var entriesByName: [Name: Entry] = [:]
    var failures: [Name] = []
    var problems: [String] = []
  }

  /// Returns how many steps have failed so far, this one included.
  func add(_ entry: Entry) -> Int {
    state.withLock { state in
      state.entriesByName[entry.name] = entry
      if entry.outcome.isFailure { state.failures.append(entry.name) }
      return state.failures.count
    }
  }

  /// Whether one of these steps has failed, or did not run to its end because of a failure.
  func hasFailure(in steps: [Name]) -> Bool {
    state.withLock { state in
      steps.contains { name in
        switch state.entriesByName[name]?.outcome {
        case .failed, .timedOut, .skipped: true
        case .cancelled, .notRun: !state.failures.isEmpty
        case .succeeded, .notNeeded, nil: false
        }
      }
    }
  }

  /// Whether it had ended by this moment, or ended without running anything.
  func hasEnded(_ step: Name, before instant: ContinuousClock.Instant) -> Bool {
    guard let entry = state.withLock({ $0.entriesByName[step] }) else { return false }
    guard let first = entry.start, let duration = entry.duration else { return true }
    return start + first + duration <= instant
  }

  /// Something that is not a failure of a step, in a sentence.
  func note(problem: String) { state.withLock { $0.problems.append(problem) } }

  var allProblems: [String] { state.withLock { $0.problems } }

  func entry(of step: Step) -> Entry {
    state.withLock { $0.entriesByName[step.name] } ?? Entry(step, .notRun)
  }

  /// The failed steps with their last output, in the order in which they failed.
  var failed: [(name: Name, output: [String])] {
    state.withLock { state in
      state.failures.map { ($0, state.entriesByName[$0]?.lastOutput ?? []) }
    }
  }
}

internal import ProcedurePrimitives

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

final class RunRecord: Sendable {
  struct Entry: Sendable {
    let name: Name
    let group: Name?
    let outcome: StepOutcome
    /// The start of its command, since the start of the run; negative for a job that an earlier run
    /// submitted.
    let start: Duration?
    let duration: Duration?
    /// The time until a service was ready.
    let untilReady: Duration?
    let attempts: Int
    let lastOutput: [String]

    /// The part of its duration within this run; nil if it did not run.
    var durationInRun: Duration? {
      guard let start, let duration else { return nil }
      return start < .zero ? max(.zero, duration + start) : duration
    }

    /// The entry of a step that did not run.
    init(_ step: Step, _ outcome: StepOutcome) {
      self.init(step, outcome, start: nil, duration: nil, attempts: 0, lastOutput: [])
    }

    init(
      _ step: Step, _ outcome: StepOutcome, start: Duration?, duration: Duration?,
      untilReady: Duration? = nil, attempts: Int, lastOutput: [String]
    ) {
      (name, group) = (step.name, step.group)
      (self.outcome, self.start) = (outcome, start)
      if case .timedOut(let limit, of: .attempt) = outcome {
        // While a machine is full, a program begins after its limit does.
        self.duration = duration.map { max($0, limit) }
      } else {
        self.duration = duration
      }
      self.untilReady = untilReady
      (self.attempts, self.lastOutput) = (attempts, lastOutput)
    }
  }

  let start = ContinuousClock.now
  let startDate = Date()
  private let secrets: Secrets
  private let state = Locked(State())

  /// - Parameter secrets: the values that its problems must not show.
  init(_ secrets: Secrets) { self.secrets = secrets }

  private struct State {
    var entriesByName: [Name: Entry] = [:]
    var failures: [Name] = []
    var problems: [String] = []
  }

  /// Returns the number of failed steps so far, including this one.
  func add(_ entry: Entry) -> Int {
    state.withLock { state in
      state.entriesByName[entry.name] = entry
      if entry.outcome.isFailure { state.failures.append(entry.name) }
      return state.failures.count
    }
  }

  /// Whether one of these steps has failed, or was stopped by a failure.
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

  /// Whether it had ended by this time, or has ended without running anything.
  func hasEnded(_ step: Name, before instant: ContinuousClock.Instant) -> Bool {
    guard let entry = state.withLock({ $0.entriesByName[step] }) else { return false }
    guard let first = entry.start, let duration = entry.duration else { return true }
    return start + first + duration <= instant
  }

  /// Notes a problem that is not the failure of a step, as a sentence.
  func note(problem: String) {
    let shown = secrets.hiding(problem)
    state.withLock { $0.problems.append(shown) }
  }

  var allProblems: [String] { state.withLock { $0.problems } }

  func entry(of step: Step) -> Entry {
    state.withLock { $0.entriesByName[step.name] } ?? Entry(step, .notRun)
  }

  var failed: [(name: Name, output: [String])] {
    state.withLock { state in
      state.failures.map { ($0, state.entriesByName[$0]?.lastOutput ?? []) }
    }
  }
}

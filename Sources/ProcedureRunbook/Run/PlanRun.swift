import Foundation
import Procedures
import ProceduresFoundation

/// One run of a plan: turns its steps into a graph of procedures, and waits for it.
struct PlanRun {
  private let options: Options
  private let display: Display
  /// The one switch for everything: Ctrl-C, the first failure and the time limit all use it.
  private let cancellation = CancellationTokenSource()
  /// Unlimited: what waits and decides takes no place from what works.
  private let queue = ProcedureQueue(name: "runbook")
  private let jobs: ProcedureQueue
  /// What steps exclude each other over is theirs alone.
  private let domain = ExclusionDomain(name: "runbook")
  private var steps: [StepProcedure] = []
  private var groups: [GroupProcedure] = []

  init(_ plan: Plan, options: Options, display: Display) {
    self.options = options
    self.display = display
    jobs = ProcedureQueue(name: "jobs", maxConcurrentProcedureCount: options.jobs)
    makeSteps(plan)
    makeGroups(plan)
    connect(plan)
  }

  /// Runs the plan to its end and answers the exit status.
  func run() async -> Int32 {
    let interrupts = Interrupts { [cancellation, steps] count in
      if count == 1 {
        cancellation.cancel(.requested)
      } else {
        for step in steps { step.kill() }
      }
    }
    await interrupts.start()
    if let timeout = options.timeout { cancellation.cancel(after: timeout) }
    let roots = groups + steps.filter { $0.step.group == nil }
    display.showProgress {
      let all = roots.reduce(0) { $0 + $1.progressWeight }
      return roots.reduce(0) { $0 + $1.fractionCompleted * $1.progressWeight } / max(all, 1)
    }
    for group in groups { queue.add(group, cancelledBy: cancellation.token) }
    for step in steps where step.step.group == nil {
      queue.add(step, cancelledBy: cancellation.token)
    }
    await queue.waitUntilAllFinished()
    // A check of a cancelled step may take its time to go.
    await jobs.waitUntilAllFinished()
    let signal = interrupts.stop()
    let allSucceeded = display.finish()
    if allSucceeded { return 0 }
    return signal.map { 128 + $0 } ?? 1
  }

  private mutating func makeSteps(_ plan: Plan) {
    for step in plan.steps {
      let display = display
      let procedure = StepProcedure(
        step, jobs: jobs, domain: domain, gracePeriod: options.gracePeriod
      ) {
        display.output($0, of: step.name)
      }
      procedure.command.addWillExecuteBlockObserver { _, _ in display.started(step.name) }
      procedure.command.addDidCancelBlockObserver { _, _ in display.stopping(step.name) }
      procedure.addDidFinishBlockObserver { [cancellation, options] procedure, errors in
        let outcome = Self.outcome(of: procedure, errors, options, cancellation.token.reason)
        display.ended(step.name, outcome)
        if outcome.isFailure, !options.keepGoing, let error = errors.first {
          cancellation.cancel(.failure(error))
        }
      }
      steps.append(procedure)
    }
  }

  private mutating func makeGroups(_ plan: Plan) {
    let members = Dictionary(grouping: steps.filter { $0.step.group != nil }) { $0.step.group }
    groups = plan.groups.map { name in
      let group = GroupProcedure(children: members[name] ?? [])
      group.name = name
      // Each step counts alike, in a group or outside.
      group.progressWeight = Double(members[name]?.count ?? 0)
      return group
    }
  }

  /// A step depends on a step or on a whole group, wherever they are.
  private func connect(_ plan: Plan) {
    let stepsByName = Dictionary(uniqueKeysWithValues: steps.map { ($0.step.name, $0) })
    let groupsByName = Dictionary(uniqueKeysWithValues: groups.map { ($0.name, $0) })
    let members = Dictionary(grouping: steps) { $0.step.group }
    for step in steps {
      for name in step.step.after {
        if let other = stepsByName[name] {
          step.add(dependency: other)
          step.require([other])
        } else if let group = groupsByName[name] {
          step.add(dependency: group)
          step.require(members[name] ?? [])
        }
      }
    }
  }

  private static func outcome(
    of step: StepProcedure, _ errors: [any Error], _ options: Options,
    _ reason: CancellationReason?
  ) -> StepOutcome {
    if step.isCancelled {
      guard step.command.result != nil else { return .notRun }
      if case .deadlineExceeded? = reason, let limit = options.timeout { return .timedOut(limit) }
      return .cancelled
    }
    switch errors.first {
    case nil: return step.wasNotNeeded ? .notNeeded : .succeeded
    case let error as StepSkipped: return .skipped(after: error.prerequisite)
    case let error as ProcedureError where error.code == .timedOut:
      return .timedOut(error.duration ?? .zero)
    case let error as ProcessError:
      return .failed(error.result?.exit.description ?? error.description)
    case let error?: return .failed("\(error)")
    }
  }
}

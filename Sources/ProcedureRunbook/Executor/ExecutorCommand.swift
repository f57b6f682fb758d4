import Dispatch
internal import ProcedurePrimitives
import Procedures
import ProceduresProcess

/// Runs a command of a cluster and waits for it.
enum ExecutorCommand {
  /// The time limit of a command: a hanging one must not block the desk's other work.
  static let longestPatience = Duration.seconds(60)
  private static let state = Locked(State())

  private struct State {
    var patience = longestPatience
    /// The running command.
    var command: ProcessProcedure?
  }

  /// It has no limit, since the desk runs one command at a time.
  private static let queue = ProcedureQueue(name: "cluster commands", underlyingQueue: .main)

  /// Called when the run must end: `patience` limits later commands, and the running one from now.
  static func shorten(to patience: Duration) {
    let command = state.withLock { state in
      state.patience = min(state.patience, patience)
      return state.command
    }
    guard let command else { return }
    DispatchQueue.main.asyncAfter(
      deadline: .now() + .milliseconds(Int(patience / .milliseconds(1)))
    ) {
      command.cancel()
    }
  }

  /// Returns the output of the command. It blocks, so call it on any thread but the main thread.
  static func run(
    _ program: String, _ arguments: [String], input: String? = nil, directory: String? = nil,
    environment: [String: String] = [:]
  ) throws(ExecutorProblem) -> String {
    let command = ProcessProcedure(program, arguments: arguments) { configuration in
      configuration.directory = directory
      configuration.environment.set(environment)
      if let input { configuration.standardInput = .text(input) }
      configuration.successStatuses = Set(0...255)
      configuration.terminationGracePeriod = .seconds(1)
    }
    let patience = state.withLock { state in
      state.command = command
      return state.patience
    }
    command.add(observer: TimeoutObserver(by: patience))
    let hasEnded = DispatchSemaphore(value: 0)
    command.addDidFinishBlockObserver { _, _ in
      state.withLock { $0.command = nil }
      hasEnded.signal()
    }
    queue.add(command)
    hasEnded.wait()
    guard let result = command.result, !command.isCancelled else {
      let reason = command.errors.first.map(StepOutcome.sentence) ?? "it does not answer"
      throw ExecutorProblem(sentence: reason, isTransient: command.isCancelled)
    }
    guard result.exit == .status(0) else {
      // The last line says why.
      let words = result.errorText.filledLines.last.map { ": \($0)" } ?? ""
      throw ExecutorProblem(sentence: "\(program) \(result.exit)\(words)")
    }
    return result.outputText
  }
}

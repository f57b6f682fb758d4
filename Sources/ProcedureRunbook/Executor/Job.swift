internal import ProcedurePrimitives
import ProceduresProcess

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One job of a step, shared by the step and the desk.
final class Job: Sendable {
  /// The callbacks of the step, on threads of the desk: one at a time, `ended` last.
  struct Events: Sendable {
    /// Called before it is submitted and after that; with nil when it is over. Returns the reason
    /// if that cannot be noted.
    let note: @Sendable (JobReference?) -> String?
    /// Called with the time at which it began: for a job of a killed run that may be long ago.
    let began: @Sendable (ContinuousClock.Instant) -> Void
    /// Blocks until there is room for more.
    let wrote: @Sendable (Data) -> Void
    /// Called with a line for the reader of the step's output.
    let says: @Sendable (String) -> Void
    /// Called with a warning for the same reader.
    let complains: @Sendable (String) -> Void
    /// Called when it has run for its time limit.
    let timeIsUp: @Sendable () -> Void
    let ended: @Sendable (JobEnd, ContinuousClock.Instant) -> Void
  }

  private let step: Step
  private let attempt: Int
  let events: Events

  init(_ step: Step, attempt: Int = 1, _ events: Events) {
    (self.step, self.attempt) = (step, attempt)
    self.events = events
  }

  var timeout: Duration? { step.timeout }

  func request(_ key: String, _ files: JobFiles) -> JobRequest {
    JobRequest(
      key: key, name: step.name.visible, script: files.script(running: step.shell),
      outputPath: files.output,
      directory: step.directory ?? String(decoding: Directory.current.bytes, as: UTF8.self),
      environment: step.environment.merging(step.variables(inAttempt: attempt)) { $1 },
      processors: step.processors, memory: step.memory(inAttempt: attempt),
      timeout: step.timeout, options: step.executorOptions)
  }

  static func makeKey() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }
}

/// Passes on the output file of a job, on threads for that, since the receiver may block them.
final class JobOutput: Sendable {
  private let job: Job
  private let files: JobFiles
  private let threads: HandlerThreads
  private let state = Locked(State())

  private struct State {
    var offset = 0
    var isReading = false
    var isWanted = false
    /// Called when all output was read.
    var completion: (@Sendable () -> Void)?
  }

  init(of job: Job, _ files: JobFiles, _ threads: HandlerThreads) {
    (self.job, self.files, self.threads) = (job, files, threads)
  }

  /// Reads new output, if there is any.
  ///
  /// - Parameter completion: says that no more output follows; called when all was read.
  func read(_ completion: (@Sendable () -> Void)? = nil) {
    let mustStart = state.withLock { state in
      state.isWanted = true
      state.completion = completion ?? state.completion
      defer { state.isReading = true }
      return !state.isReading
    }
    if mustStart { threads.run { [self] in readAll() } }
  }

  private func readAll() {
    while true {
      let (isWanted, completion) = state.withLock { state in
        let isWanted = state.isWanted
        (state.isReading, state.isWanted) = (isWanted, false)
        return (isWanted, isWanted ? nil : state.completion.take())
      }
      guard isWanted else {
        completion?()
        return
      }
      while let piece = next() { job.events.wrote(piece) }
    }
  }

  private func next() -> Data? {
    let bytes = files.readOutput(from: state.withLock { $0.offset })
    guard !bytes.isEmpty else { return nil }
    state.withLock { $0.offset += bytes.count }
    return Data(bytes)
  }
}

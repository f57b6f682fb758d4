import Dispatch
internal import ProcedurePrimitives
import Procedures
import ProceduresProcess

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A step that runs until the steps that need it have ended.
///
/// ```
/// waiting → started → ready → (all steps that need it have ended) → SIGTERM → ended
///              ╰──── not ready in time, or its program ended: it has failed
/// ```
///
/// 1. The steps that need it depend on `ready`, and not on its end.
/// 2. The steps that need it are those after it, those after these, and other services among them.
///    So services are stopped in the opposite order of their starts, for any reason.
/// 3. It takes no slot: with one job nothing else could run beside it.
final class Service: Sendable {
  /// The time after which a service that is not ready is reported.
  static let firstPatience = Duration.seconds(20)
  private static let pause = DispatchTimeInterval.milliseconds(200)

  let step: Step
  /// The steps that need it depend on this.
  let ready = ServiceReady()
  private let output: StepOutput
  private let probes: ProcedureQueue
  private let becameReady: @Sendable (_ duration: Duration) -> Void
  private let state: Locked<State>

  private struct State {
    var procedure: Procedure?
    /// The number of unfinished steps that need it; nil until it is known.
    var needed: Int?
    var start = ContinuousClock.now
    var untilReady: Duration?
    var isStopped = false
    var hasEnded = false
    var probe: ProcessProcedure?
    /// The reason why it is not ready yet.
    var reason: String
    var scanner: LineScanner?
  }

  /// - Parameters:
  ///   - probes: the queue of the commands that test whether it is ready.
  ///   - becameReady: called once when it is ready, with the time that it took.
  init(
    _ step: Step, output: StepOutput, probes: ProcedureQueue,
    becameReady: @escaping @Sendable (_ duration: Duration) -> Void
  ) {
    self.step = step
    self.output = output
    self.probes = probes
    self.becameReady = becameReady
    state = Locked(
      State(
        reason: step.readyLine.map { "no line of its output has '\($0.visible.shortened)'" }
          ?? "'ready' has not ended",
        scanner: step.readyLine.map { LineScanner(Array($0.utf8)) }))
    ready.name = step.name.text
  }

  var isReady: Bool { untilReady != nil }

  /// The time that it took to get ready; nil if it is not ready.
  var untilReady: Duration? { state.withLock { $0.untilReady } }

  /// Whether it has ended, or is being stopped.
  var isOver: Bool { state.withLock { $0.hasEnded || $0.isStopped } }

  /// Whether unfinished steps of this run need it. If none did from the start, it runs until the
  /// run is stopped.
  var isNeeded: Bool { state.withLock { ($0.needed ?? 0) > 0 } }

  /// Whether it was ready and then stopped on purpose: that end is no failure.
  var hasServed: Bool { state.withLock { $0.untilReady != nil && $0.isStopped } }

  // MARK: Those that need it

  /// Call it once, before anything runs.
  func stop(_ procedure: Procedure, after needing: [Procedure]) {
    state.withLock { state in
      state.procedure = procedure
      state.needed = needing.count
    }
    for other in needing {
      other.addDidFinishBlockObserver { [self] _, _ in noteEndOfOne() }
    }
  }

  private func noteEndOfOne() {
    let procedure = state.withLock { state -> Procedure? in
      state.needed = state.needed.map { $0 - 1 }
      guard state.needed == 0 else { return nil }
      state.isStopped = true
      return state.procedure
    }
    procedure?.cancel()
  }

  // MARK: Its program

  /// Called when its program has started; `probe` makes a command that tests whether it is ready.
  func started(_ probe: @escaping @Sendable () -> ProcessProcedure?) {
    state.withLock { $0.start = .now }
    if step.ready == nil, step.readyLine == nil { return noteReady() }
    if step.ready != nil { ask(probe) }
    DispatchQueue.main.asyncAfter(deadline: .now() + Self.firstPatience.dispatchInterval) {
      [self] in
      if let reason = reasonOfWaiting { output.complain("is not ready yet: \(reason)") }
    }
    guard let timeout = step.timeout else { return }
    DispatchQueue.main.asyncAfter(deadline: .now() + timeout.dispatchInterval) { [self] in
      if let reason = reasonOfWaiting {
        fail("it was not ready within \(timeout.text): \(reason)")
      }
    }
  }

  /// nil if it does not wait any more.
  private var reasonOfWaiting: String? {
    state.withLock { state in
      state.untilReady != nil || state.hasEnded || state.isStopped ? nil : state.reason
    }
  }

  /// Searches a piece of its output for `readyLine`.
  func take(_ data: Data) {
    let isFound = state.withLock { state in
      guard state.untilReady == nil else { return false }
      return state.scanner?.take(data) ?? false
    }
    if isFound { noteReady() }
  }

  /// Called when it has ended, for any reason.
  func ended(_ procedure: Procedure) {
    let (isReady, probe) = state.withLock { state in
      state.hasEnded = true
      return (state.untilReady != nil, state.probe)
    }
    probe?.cancel()
    guard !isReady else { return }
    // `onlyIf` says that it is not needed: the steps after it go on, as after any such step.
    if procedure.ignoredCondition != nil { return ready.end(.success(())) }
    ready.end(.failure(procedure.errors.first ?? CancellationError()))
  }

  /// The reason why its end is a failure even if its program exited.
  func reason(for exit: ProcessExit) -> String {
    isReady ? "it \(exit) while steps needed it" : "it \(exit) before it was ready"
  }

  private func noteReady() {
    let duration = state.withLock { state -> Duration? in
      guard state.untilReady == nil, !state.hasEnded, !state.isStopped else { return nil }
      state.untilReady = .now - state.start
      return state.untilReady
    }
    guard let duration else { return }
    becameReady(duration)
    ready.end(.success(()))
  }

  private func fail(_ reason: String) {
    let procedure = state.withLock { $0.procedure }
    procedure?.cancel(withErrors: [StepCheckFailed(description: reason)])
  }

  private func ask(_ probe: @escaping @Sendable () -> ProcessProcedure?) {
    guard reasonOfWaiting != nil, let command = probe() else { return }
    command.addDidFinishBlockObserver { [self] command, _ in
      switch command.result?.exit {
      case .status(0)?:
        return noteReady()
      case let exit? where StepCheck.isUnknownCommand(exit):
        return fail("'ready' \(exit)")
      case let exit:
        let reason = exit.map { "'ready' \($0)" } ?? "'ready' cannot be run"
        state.withLock { $0.reason = reason }
        DispatchQueue.main.asyncAfter(deadline: .now() + Self.pause) { [self] in ask(probe) }
      }
    }
    state.withLock { $0.probe = command }
    probes.add(command)
  }
}

/// Finishes when a service is ready, and fails if that has ended before.
final class ServiceReady: Procedure, EndsByItself, @unchecked Sendable {
  private let wanted = Locked<(isExecuting: Bool, end: Result<Void, any Error>?)>((false, nil))

  override func execute() {
    let end = wanted.withLock { state in
      state.isExecuting = true
      return state.end
    }
    if let end { finish(withEnd: end) }
  }

  /// Only the first call counts.
  func end(_ end: Result<Void, any Error>) {
    let mustFinish = wanted.withLock { state in
      guard state.end == nil else { return false }
      state.end = end
      return state.isExecuting
    }
    if mustFinish { finish(withEnd: end) }
  }

  private func finish(withEnd end: Result<Void, any Error>) {
    switch end {
    case .success: finish()
    case .failure(let error): finish(withError: error)
    }
  }
}

/// Lets a step run only while a service that it needs runs.
struct ServiceRuns: SynchronousCondition {
  let service: Service

  var name: String { "the service '\(service.step.name)' runs" }

  func evaluate(_ procedure: Procedure) -> ConditionResult {
    guard service.isOver, service.isReady else { return .satisfied }
    return .failed(
      StepCheckFailed(description: "the service '\(service.step.name.visible)' has ended"))
  }
}

/// Searches output that arrives in pieces for a text.
struct LineScanner {
  private let text: [UInt8]
  /// The end of the earlier bytes, in which the text may have begun.
  private var rest: [UInt8] = []

  init(_ text: [UInt8]) { self.text = text }

  mutating func take(_ data: some Sequence<UInt8>) -> Bool {
    let bytes = rest + data
    guard bytes.count >= text.count else {
      rest = bytes
      return false
    }
    if bytes.indices.dropLast(text.count - 1).contains(where: { bytes[$0...].starts(with: text) }) {
      return true
    }
    rest = Array(bytes.suffix(text.count - 1))
    return false
  }
}

extension Duration {
  fileprivate var dispatchInterval: DispatchTimeInterval {
    .milliseconds(Int(clamping: Int64(self / .milliseconds(1))))
  }
}

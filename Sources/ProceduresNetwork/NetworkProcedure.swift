internal import Foundation
internal import ProcedurePrimitives
public import Procedures
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Retries a network procedure when another attempt may help.
///
/// ```swift
/// let fetch = NetworkProcedure { NetworkDataProcedure(url: url) }
/// let decode = DecodeJSONProcedure([Release].self).injectPayload(fromNetwork: fetch)
/// queue.add(fetch, decode)
/// print(try await decode.value.count)
/// ```
///
/// It is a `RetryProcedure` for the network: `NetworkResilience` decides after which errors and
/// statuses there is another attempt, and how long it waits. If the server asks for a longer wait
/// in `Retry-After`, it waits that long, or gives up at once if the rest of the deadline is
/// shorter. All waits are on the queue's clock, and block no thread. Its errors are the unchanged
/// errors of the last attempt. Each attempt gets its input; its output is the output of the
/// successful attempt.
///
/// ## Cancellation
/// A cancel ends the transfer of the current attempt, or the wait for the next. When the deadline
/// passes, the procedure is cancelled with `ProcedureError.Code.timedOut`, followed by the errors
/// of the last attempt.
nonisolated open class NetworkProcedure<Attempt: ProcedureProtocol>: RetryProcedure<Attempt>,
  RepeatsRequests, @unchecked Sendable
{
  final let unrepeatableRequests: UnrepeatableRequests

  /// Makes a procedure whose attempts `body` makes.
  ///
  /// - Parameters:
  ///   - name: its name.
  ///   - resilience: when there is another attempt, and when it gives up.
  ///   - body: makes an attempt: a new procedure each time. Called in the turns of this procedure.
  public init(
    name: String? = nil, resilience: NetworkResilience = NetworkResilience(),
    body: @escaping @Sendable () -> Attempt
  ) {
    let timeout = resilience.requestTimeout
    let budget = Budget(resilience)
    let unrepeatableRequests = UnrepeatableRequests()
    self.unrepeatableRequests = unrepeatableRequests
    super.init(
      name: name, max: resilience.maximumNumberOfAttempts,
      body: { () -> Attempt? in
        let attempt = body()
        for condition in resilience.conditions { attempt.add(condition: condition) }
        if !resilience.conditions.isEmpty {
          attempt.addWillFinishBlockObserver { attempt, errors, _ in
            resilience.pauseRates(after: errors, on: attempt.clock)
          }
        }
        if let timeout { attempt.timeout(after: timeout) }
        budget.measure(attempt)
        return attempt
      },
      retry: { failure, next in
        let request = NetworkProcedure<Attempt>.request(of: failure.procedure)
        budget.attemptEnds(on: failure.procedure.clock)
        guard
          // The stream was read, so the body would be missing. This attempt's error says more than
          // the next one's would.
          (NetworkProcedure<Attempt>.request(of: next.procedure) ?? request)?.hasUsedStream != true,
          case .retry(let earliest) = resilience.decision(
            after: failure.errors, method: request?.method,
            mayHaveActed: !unrepeatableRequests.isEmpty, deadlineLeft: budget.deadlineLeft),
          let interval = budget.nextInterval()
        else { return nil }
        var next = next
        let delay = max(interval, earliest)
        guard budget.allows(next.procedure, after: delay) else { return nil }
        next.delay = delay
        unrepeatableRequests.beginAttempt()
        return next
      })
    if let deadline = resilience.deadline {
      if resilience.deadlineCountsLine {
        addWillExecuteBlockObserver { procedure, _ in budget.start(on: procedure.clock) }
        self.timeout(after: deadline)
      }
      // Called before the retry handler, with the same errors at the same time.
      recover { procedure, child, errors in
        guard child === procedure.current, let left = budget.deadlineLeft,
          procedure.count < resilience.maximumNumberOfAttempts ?? .max
        else { return errors }
        return resilience.explaining(errors, deadlineLeft: left)
      }
    }
  }

  private static func request(of attempt: Attempt) -> URLRequest? {
    switch attempt {
    case let attempt as any InputProcedure<URLRequest>: attempt.input
    case let attempt as NetworkUploadProcedure: attempt.input?.request
    default: nil
    }
  }
}

/// The remaining waits and time. Used only in turns of its procedure, one at a time, and in the
/// first event of an attempt, which comes before the next such turn.
private final class Budget: @unchecked Sendable {
  private var intervals: WaitStrategy.Iterator
  private let deadline: Duration?
  /// The end of a deadline that counts everything.
  private var end: (clock: TimerClock, instant: ContinuousClock.Instant)?
  /// The rest of a deadline that does not count waiting for conditions. `attemptStart` is the time
  /// since which an attempt uses it.
  private var left: Duration?
  private var attemptStart: ContinuousClock.Instant?

  init(_ resilience: NetworkResilience) {
    intervals = resilience.backoffStrategy.makeIterator()
    deadline = resilience.deadline
    if !resilience.deadlineCountsLine { left = deadline }
  }

  func nextInterval() -> Duration? { intervals.next() }

  func start(on clock: TimerClock) {
    guard let deadline else { return }
    end = (clock, clock.now.saturatingAdvanced(by: deadline))
  }

  /// nil without a deadline; never negative.
  var deadlineLeft: Duration? {
    left ?? end.map { end in max(.zero, end.clock.now.duration(to: end.instant)) }
  }

  // MARK: Without the wait in line

  /// Registers a new attempt, which uses the rest of the deadline from when it executes.
  func measure(_ attempt: some ProcedureProtocol) {
    guard left != nil else { return }
    attempt.addWillExecuteBlockObserver { [self] attempt, _ in attemptStart = attempt.clock.now }
    // Limits the first attempt. `allows` limits the others, since it knows the rest after the
    // delay.
    if left == deadline { limit(attempt) }
  }

  func attemptEnds(on clock: TimerClock) {
    guard let left, let start = attemptStart.take() else { return }
    self.left = max(.zero, left - start.duration(to: clock.now))
  }

  /// Whether there is time for an attempt after that delay.
  func allows(_ attempt: some ProcedureProtocol, after delay: Duration) -> Bool {
    guard let left else { return true }
    guard delay < left else { return false }
    self.left = left - delay
    limit(attempt)
    return true
  }

  private func limit(_ attempt: some ProcedureProtocol) {
    if let left { attempt.timeout(after: left) }
  }
}

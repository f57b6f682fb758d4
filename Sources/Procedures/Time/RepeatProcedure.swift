internal import ProcedurePrimitives

/// Makes and runs procedures one after another, with a wait between two.
///
/// ```swift
/// queue.add(RepeatProcedure(max: 10, wait: .constant(.seconds(60))) { Poll(server) })
/// ```
///
/// It is a group: each attempt is a child, made when the previous attempt is about to finish, even
/// with errors. It goes on until the closure returns nil, there were `max` attempts, the wait
/// strategy has no further interval, or the repeat is cancelled. All waits use the queue's clock;
/// the first one is before the second attempt. With `max: 0` or less it makes no attempt, and
/// succeeds.
///
/// It ends with the errors of its last attempt, without wrapping them: a waiter can catch them by
/// their own type. The errors of earlier attempts are dropped, so that an endless repeat needs no
/// more memory than a short one; to see them override `child(_:willFinishWithErrors:)`, or observe
/// each attempt. Finished attempts are released: `children` has only unfinished ones. If the
/// attempts are output procedures, so is the repeat: its output is that of the last attempt that
/// had one. If they are input procedures, so is the repeat: each attempt receives its input.
///
/// `init(name:max:every:whenLate:body:)` starts attempts at a fixed rate instead.
///
/// The closure is called in the turns of the repeat, one call at a time, on the queue's workers,
/// when the repeat executes and when an attempt is about to finish. After a cancel it is not
/// called.
nonisolated open class RepeatProcedure<Attempt: ProcedureProtocol>: GroupProcedure,
  @unchecked Sendable
{
  /// The next attempt, and the wait before it.
  public typealias Payload = RepeatProcedurePayload<Attempt>

  private struct Progress: Sendable {
    var count = 0
    var keepsSlot = true
    var current: Attempt?
    var previous: Attempt?
  }

  private final let maximum: Int
  private final let progress = Locked(Progress())

  // The following are accessed only in the group's turns.
  private final var pauses: AttemptPauses
  private final var makeNext: (() -> Payload?)?

  /// Makes a repeat.
  ///
  /// ```swift
  /// RepeatProcedure(max: 3) {
  ///   let poll = Poll(server)
  ///   poll.qualityOfService = .background
  ///   return poll
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - max: the most attempts; nil for no limit.
  ///   - wait: how long to wait between two attempts.
  ///   - body: makes an attempt, or returns nil to end the repeat. A closure of several statements
  ///     that may return nil needs its type: `{ () -> Poll? in … }`.
  public init(
    name: String? = nil, max: Int? = nil, wait: WaitStrategy = .immediate,
    body: @escaping @Sendable () -> Attempt?
  ) {
    maximum = max ?? .max
    pauses = .intervals(wait.makeIterator())
    makeNext = { body().map { Payload(procedure: $0) } }
    super.init(name: name, children: [])
    keepsFinishedChildren = false
  }

  /// Makes a repeat of the attempts of `iterator`, each of which may have a delay of its own.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - max: the most attempts; nil for no limit.
  ///   - wait: how long to wait before an attempt without a delay of its own.
  ///   - iterator: makes the attempts. When it returns nil, the repeat ends.
  public init(
    name: String? = nil, max: Int? = nil, wait: WaitStrategy = .immediate,
    iterator: some IteratorProtocol<RepeatProcedurePayload<Attempt>> & Sendable
  ) {
    var iterator = iterator
    maximum = max ?? .max
    pauses = .intervals(wait.makeIterator())
    makeNext = { iterator.next() }
    super.init(name: name, children: [])
    keepsFinishedChildren = false
  }

  /// Makes a repeat at a fixed rate: each attempt starts a `period` after the previous attempt
  /// *started*.
  ///
  /// ```swift
  /// queue.add(RepeatProcedure(every: .milliseconds(50)) { ReadSensor(sensor) })
  /// ```
  ///
  /// The starts are due at `period`, twice `period` and so on after the first, by the queue's
  /// clock: small delays do not add up. Attempts never overlap. If an attempt takes longer than a
  /// period, the machine sleeps, the repeat is suspended, or waits for a slot that it has given up,
  /// starts are missed, and `policy` decides.
  ///
  /// An attempt with a condition, a category or a dependency of its own starts when these let it,
  /// and is not missed; nor is one that waits for a thread, or for a place among the children. The
  /// following start is at a multiple of the period again.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - max: the most attempts; nil for no limit. Missed starts do not count.
  ///   - period: the time from one start to the next. Zero or less is a programmer error, and
  ///     traps.
  ///   - policy: decides what happens to missed starts.
  ///   - body: makes an attempt. See `init(name:max:wait:body:)`.
  public init(
    name: String? = nil, max: Int? = nil, every period: Duration,
    whenLate policy: LatePolicy = .skip,
    body: @escaping @Sendable () -> Attempt?
  ) {
    guard period > .zero else {
      stopBecauseOfMisuse(
        "A repeat every \(period.short) would never pause. Give it a period of more than zero, or wait: .immediate."
      )
    }
    maximum = max ?? .max
    pauses = .rate(AttemptRate(period: period, policy: policy))
    makeNext = { body().map { Payload(procedure: $0) } }
    super.init(name: name, children: [])
    keepsFinishedChildren = false
  }

  /// Whether the repeat keeps its slot, and the categories of its own conditions, between two
  /// attempts; default true.
  ///
  /// You may set it at any time; it applies from the next wait on.
  ///
  /// If it is false, other procedures can run during the wait. After the wait the repeat waits for
  /// a slot again, with its priority: its attempt starts when it has one, and each `RateLimit` of
  /// its own counts that as a start. While it has no slot, no child of it starts. If an attempt is
  /// cancelled meanwhile, the wait before the next attempt begins at once. If other children run
  /// when a wait begins, it keeps the slot and the categories during that wait.
  ///
  /// ```swift
  /// let upload = RetryProcedure(max: 5, wait: .constant(.seconds(30))) { Upload(file) }
  /// upload.keepsSlotWhileWaiting = false
  /// queue.add(upload)
  /// ```
  public final var keepsSlotWhileWaiting: Bool {
    get { progress.withLock { $0.keepsSlot } }
    set { progress.withLock { $0.keepsSlot = newValue } }
  }

  /// How many attempts have been made so far.
  public final var count: Int { progress.withLock { $0.count } }

  /// The attempt that was made last.
  public final var current: Attempt? { progress.withLock { $0.current } }

  /// The attempt before the last.
  public final var previous: Attempt? { progress.withLock { $0.previous } }

  /// Makes the first attempt. An override calls `super.execute()`.
  open override func execute() {
    if !makeAttempt(after: nil), !isCancelled { setOwnErrors(errorsWithoutAttempt) }
    super.execute()
  }

  override func workDidEnter(_ phase: WorkPhase) {
    super.workDidEnter(phase)
    guard phase == .over else { return }
    let released = makeNext.take()
    _ = released
  }

  var errorsWithoutAttempt: [any Error] { [] }

  // MARK: The next attempt

  final override func takeOver(
    _ errors: [any Error], of child: Procedure
  ) -> ([any Error], ChildRelation) {
    guard let attempt = child as? Attempt, attempt === current else { return (errors, .part) }
    // After `failurePolicy` has cancelled the other children, further attempts would be cancelled
    // without end.
    let wasEndedByGroup =
      attempt.failed && attempt.errors.contains { ($0 as? ProcedureError)?.isOfGroup ?? false }
    return (errors, wasEndedByGroup ? .whole : goOn(after: attempt, errors))
  }

  /// Makes the next attempt, if there is one. Called when an attempt is about to finish.
  ///
  /// - Parameter errors: the attempt's errors that were not dealt with.
  /// - Returns: how these errors relate to the group.
  func goOn(after attempt: Attempt, _ errors: [any Error]) -> ChildRelation {
    if maximum != .max { report(fractionCompleted: Double(count) / Double(maximum)) }
    makeAttempt(after: attempt)
    return .whole
  }

  /// Overridden to change or drop the next attempt after a failure.
  func payload(after attempt: Attempt, instead payload: Payload) -> Payload? { payload }

  /// Makes and adds the next attempt. False if there is none.
  @discardableResult
  final func makeAttempt(after last: Attempt?) -> Bool {
    guard !isCancelled, !peek({ $0.life.hasRefusedCancel }), count < maximum,
      let pause = pauses.next(isFirst: last == nil, on: clock), let made = makeNext?()
    else { return false }
    guard let last else {
      add(made, after: nil, pause)
      return true
    }
    guard let payload = payload(after: last, instead: made) else { return false }
    add(payload, after: last, payload.delay.map(AttemptPause.length) ?? pause)
    return true
  }

  private func add(_ payload: Payload, after last: Attempt?, _ pause: AttemptPause) {
    let next = payload.procedure
    guard next.state == .initialized else {
      stopBecauseOfMisuse(
        "'\(name)' was given '\(next.name)' for an attempt, which has been added to a queue or group "
          + "before. Make a new procedure for each attempt.")
    }
    payload.configure?(next)
    if let target = next as? any InputProcedure { give(storedInput, to: target) }
    // It starts when the previous attempt has finished, with its observers, and the wait is over.
    if let delay = pause.delay(before: next, in: self) {
      next.add(dependency: delay)
      if let last {
        delay.add(dependency: last)
        if !keepsSlotWhileWaiting { yieldSlot(during: delay, after: last) }
      }
      add(child: delay)
    } else if let last {
      next.add(dependency: last)
    }
    if next is any OutputProcedure {
      next.addDidFinishBlockObserver { [weak self] attempt, _ in
        if let source = attempt as? any OutputProcedure { self?.take(from: source) }
      }
    }
    let released = progress.withLock { progress in
      let released = progress.previous
      progress.count += 1
      progress.previous = progress.current
      progress.current = next
      return released
    }
    _ = released
    add(child: next)
  }

  // MARK: Values

  private func give<Target: InputProcedure>(_ input: StoredValue, to target: Target) {
    if let input = input.value(as: Target.Input.self) { target.input = input }
  }

  private func take(from source: some OutputProcedure) {
    if let result = source.result { storedOutput = .keeping(result) }
  }
}

/// A group whose children are attempts at the work for which the user added the group.
package protocol AttemptGroup: GroupProcedure {}

extension RepeatProcedure: AttemptGroup {}

extension RepeatProcedure: InputProcedure where Attempt: InputProcedure {
  /// The input of each attempt.
  public typealias Input = Attempt.Input
}

extension RepeatProcedure: OutputProcedure where Attempt: OutputProcedure {
  /// The output of an attempt.
  public typealias Output = Attempt.Output
}

/// The next attempt, and the wait before it.
public struct RepeatProcedurePayload<Attempt: ProcedureProtocol>: Sendable {
  /// The attempt.
  public var procedure: Attempt

  /// How long to wait before the attempt; nil for the interval of the wait strategy. It has no
  /// effect on the first attempt.
  public var delay: Duration?

  /// A closure that is called with `procedure` before it is added; by default nil.
  public var configure: (@Sendable (Attempt) -> Void)?

  /// Makes a description of the next attempt.
  public init(
    procedure: Attempt, delay: Duration? = nil,
    configure: (@Sendable (Attempt) -> Void)? = nil
  ) {
    self.procedure = procedure
    self.delay = delay
    self.configure = configure
  }
}

internal import ProcedurePrimitives

/// Makes and runs procedures one after another, with a wait in between.
///
/// ```swift
/// queue.add(RepeatProcedure(max: 10, wait: .constant(.seconds(60))) { Poll(server) })
/// ```
///
/// A group: each attempt is a child, made when the one before has finished, however that ended. It
/// goes on until the closure returns nil, there were `max` attempts, the wait strategy has no
/// further interval, or the repeat is cancelled. All waits are on the queue's clock; the first
/// stands before the second attempt. With `max: 0` or less nothing is attempted, and it succeeds: it has
/// repeated as often as it was to.
///
/// It ends with the errors of its last attempt, unwrapped: a waiter can catch them by their own
/// type. The errors of earlier attempts are dropped, so that an endless repeat needs no more memory
/// than a short one; look at them in `child(_:willFinishWithErrors:)`, or with an observer of each
/// attempt. Finished attempts are released: `children` has the unfinished ones. If the
/// attempts are output procedures, so is this: its output comes from the last attempt that had one.
/// If they are input procedures, so is this: each attempt gets its input.
///
/// `init(name:max:every:whenLate:body:)` starts attempts at a fixed rate instead.
///
/// The closure is called in the turns of the repeat, one at a time, on the queue's workers, when an
/// attempt is about to finish. After a cancel nothing is made.
nonisolated open class RepeatProcedure<Attempt: ProcedureProtocol>: GroupProcedure,
  @unchecked Sendable
{
  /// Makes the next attempt.
  public typealias Payload = RepeatProcedurePayload<Attempt>

  private struct Progress: Sendable {
    var count = 0
    var keepsSlot = true
    var current: Attempt?
    var previous: Attempt?
  }

  private final let maximum: Int
  private final let progress = Locked(Progress())

  // Touched only in turns.
  private final var pauses: AttemptPauses
  private final var makeNext: (() -> Payload?)?
  /// The attempt whose errors are being taken over; told apart by identity only.
  private final var heard: ObjectIdentifier?

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
  ///   - max: how many attempts at most; nil for no limit.
  ///   - wait: how long to wait between two.
  ///   - body: makes an attempt. A closure that may return nil ends the repeat with that; with
  ///     several statements it says so: `{ () -> Poll? in … }`.
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

  /// Makes a repeat of what `iterator` says, which may give each attempt a delay of its own.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - max: how many attempts at most; nil for no limit.
  ///   - wait: how long to wait before an attempt that says nothing of a delay.
  ///   - iterator: its end ends the repeat.
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

  /// Makes a repeat at a fixed rate, whatever its attempts take: the next one starts a `period` after the one before
  /// *started*.
  ///
  /// ```swift
  /// queue.add(RepeatProcedure(every: .milliseconds(50)) { ReadSensor(sensor) })
  /// ```
  ///
  /// The starts are due at `period`, twice `period` and so on after the first, by the queue's clock: that some are late
  /// by a little does not add up. Attempts never overlap. If one takes longer than a period, or the machine sleeps, or
  /// the group is suspended, starts are missed, and `policy` decides.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - max: how many attempts at most; nil for no limit. Missed starts do not count.
  ///   - period: from one start to the next. One that is not longer than zero is a programmer error, and traps.
  ///   - policy: what becomes of missed starts.
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

  /// Whether it keeps its slot, and the categories of its own conditions, between two attempts.
  ///
  /// Set it at any time: it counts from the next wait on.
  ///
  /// If not, others run during the wait. After it the repeat stands in line again, with its priority: its attempt starts
  /// when it has a slot, and each `RateLimit` of its own counts that as a start. While it has no slot no child of it
  /// starts. If other children run when a wait begins, it keeps both for that wait.
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

  override func releaseWork() {
    super.releaseWork()
    let released = makeNext.take()
    _ = released
  }

  /// What it ends with if there was nothing to attempt.
  var errorsWithoutAttempt: [any Error] { [] }

  // MARK: The next attempt

  final override func errorsToTakeOver(
    _ errors: [any Error], of child: Procedure
  ) -> [any Error] {
    heard = nil
    guard let attempt = child as? Attempt, attempt === current else { return errors }
    heard = ObjectIdentifier(attempt)
    // After `failurePolicy` has cancelled the rest, further attempts would be cancelled without end.
    let wasEndedByGroup =
      attempt.failed && attempt.errors.contains { ($0 as? ProcedureError)?.isOfGroup ?? false }
    if wasEndedByGroup { return errors }
    goOn(after: attempt, errors)
    return errors
  }

  override func relation(to child: Procedure) -> ChildRelation {
    heard == ObjectIdentifier(child) ? .whole : .part
  }

  /// An attempt is about to finish. Makes the next one, if there is one.
  ///
  /// - Parameter errors: those of the attempt that are not dealt with.
  func goOn(after attempt: Attempt, _ errors: [any Error]) {
    if maximum != .max { report(fractionCompleted: Double(count) / Double(maximum)) }
    makeAttempt(after: attempt)
  }

  /// What is made of what would be attempted next; nil for nothing.
  func payload(after attempt: Attempt, instead payload: Payload) -> Payload? { payload }

  /// Makes and adds the next attempt. False if there is none.
  @discardableResult
  final func makeAttempt(after last: Attempt?) -> Bool {
    guard !isCancelled, !peek({ $0.life.hasRefusedCancel }), count < maximum,
      let pause = pauses.next(isFirst: last == nil, on: clock), let made = makeNext?()
    else { return false }
    guard let last else {
      add(made, after: nil, .length(.zero))
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
    // It starts when the one before has finished, with its observers, and the wait is over.
    if let last, let delay = pause.delay(on: clock) {
      delay.add(dependency: last)
      next.add(dependency: delay)
      if !keepsSlotWhileWaiting { yieldSlot(during: delay, after: last) }
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

/// A group of attempts at one thing: what its user asked for is the group, and no attempt of it.
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

  /// How long to wait before; nil for what the wait strategy says. Without effect on the first.
  public var delay: Duration?

  /// Called with `procedure` before it is added; nil, the default, for nothing.
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

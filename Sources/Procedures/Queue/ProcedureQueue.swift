public import Dispatch
internal import ProcedurePrimitives

/// Runs procedures on Dispatch, in order of priority, then in the order in which they became ready.
///
/// ```swift
/// let queue = ProcedureQueue(name: "images", maxConcurrentProcedureCount: 4)
/// queue.add(BlockProcedure { print("on a worker") })
/// await queue.waitUntilAllFinished()
/// ```
///
/// A procedure that waits for its dependencies takes no slot; an executing one keeps its slot until
/// it has finished. With `maxConcurrentProcedureCount: 1` a queue is serial in the order above. A
/// queue that its owner releases still runs the procedures on it.
///
/// ## Cancellation
/// A cancelled procedure that has not started finishes promptly: it needs no free slot, and the
/// queue may be suspended.
///
/// ## Cost
/// Neither a thread nor a Dispatch queue is made for a procedure. A burst of small procedures costs
/// a few Dispatch blocks: a worker takes one after another, and asks for another worker before it
/// leaves others waiting.
public final class ProcedureQueue: Sendable {
  let list: ProcedureList
  private let delegateReference: QueueDelegateReference
  private let diagnostics: QueueDiagnostics

  /// The name in logs and errors. May be set from any thread.
  public var name: String {
    get { diagnostics.queueName }
    set { diagnostics.change { $0.queueName = newValue } }
  }

  /// The Dispatch quality of its workers. Given to `init`; it does not change.
  public let qualityOfService: DispatchQoS.QoSClass

  /// Makes a queue.
  ///
  /// - Parameters:
  ///   - name: for logs.
  ///   - maxConcurrentProcedureCount: how many procedures may be between started and finished.
  ///   - qualityOfService: of the global Dispatch queue that workers run on.
  ///   - underlyingQueue: where workers run instead: `execute()`, overrides and observers are all
  ///     called there. After a few procedures they let other blocks of that queue go first. The threads of a
  ///     concurrent one are those of Dispatch's shared pool: for work that blocks, see `init(threads:)`.
  ///   - clock: where delays and timeouts take their time from.
  public convenience init(
    name: String? = nil, maxConcurrentProcedureCount: Int = .max,
    qualityOfService: DispatchQoS.QoSClass = .default, underlyingQueue: DispatchQueue? = nil,
    clock: TimerClock = .continuous
  ) {
    let scheduler =
      underlyingQueue.map { DispatchScheduler(underlyingQueue: $0) }
      ?? DispatchScheduler(line: .shared(qualityOfService))
    self.init(
      name: name, maxConcurrentProcedureCount: maxConcurrentProcedureCount,
      qualityOfService: qualityOfService, scheduler: scheduler, clock: clock)
  }

  /// Makes a queue for work that blocks: files, locks, libraries without a completion handler.
  ///
  /// ```swift
  /// let disk = ProcedureQueue(name: "disk", threads: 4)
  /// disk.add { try Data(contentsOf: file).write(to: copy) }
  /// ```
  ///
  /// Its procedures block no thread of Dispatch's shared pool, on which other queues, tasks and blocks run, and need
  /// none: on Linux that has as many threads as there are processors, and gets one more for each second in which all
  /// of them are blocked. There is one thread more than asked for, on which cancelled procedures end while the
  /// others are blocked. A thread that has nothing to do goes back to Dispatch.
  ///
  /// - Parameters:
  ///   - name: for logs.
  ///   - threads: how many procedures may be between started and finished: at least 1. Dispatch has some 250 threads
  ///     for all such queues of the process.
  ///   - qualityOfService: of the threads.
  ///   - clock: where delays and timeouts take their time from.
  public convenience init(
    name: String? = nil, threads: Int, qualityOfService: DispatchQoS.QoSClass = .default,
    clock: TimerClock = .continuous
  ) {
    guard threads > 0 else {
      stopBecauseOfMisuse(
        "A queue with \(threads) threads would run nothing. Give it one at least.")
    }
    // One thread more, for other work while these are blocked.
    let line = WorkLine(threads: threads + 1, quality: qualityOfService)
    self.init(
      name: name, maxConcurrentProcedureCount: threads, qualityOfService: qualityOfService,
      scheduler: DispatchScheduler(line: line), clock: clock)
  }

  package init(
    name: String? = nil, maxConcurrentProcedureCount: Int = .max,
    qualityOfService: DispatchQoS.QoSClass = .default, scheduler: any Scheduler,
    clock: TimerClock = .continuous
  ) {
    self.qualityOfService = qualityOfService
    delegateReference = QueueDelegateReference()
    diagnostics = QueueDiagnostics(scheduler: scheduler, clock: clock)
    let context = SchedulingContext(scheduler: scheduler, clock: clock, supervisor: diagnostics)
    list = ProcedureList(context: context, delegate: delegateReference)
    if let name { self.name = name }
    self.maxConcurrentProcedureCount = maxConcurrentProcedureCount
  }

  /// Ends the search for procedures that wait for each other: for measuring what that costs.
  package func disableWaitWatch() {
    diagnostics.stuckNote.disable()
  }

  /// Passes on each procedure that is about to be added, also after the owner released the queue.
  ///
  /// - Returns: what `removeRecorder` takes.
  @discardableResult
  package func record(_ recorder: @escaping @Sendable (Procedure) -> Void) -> Int {
    delegateReference.add(recorder)
  }

  /// Ends what `record` began.
  package func removeRecorder(_ key: Int) {
    delegateReference.removeRecorder(key)
  }

  /// Has `recorder` called for each procedure that the queue, or a group on it, refuses.
  package func recordRefusals(_ recorder: @escaping @Sendable (ProcedureDiagnostic) -> Void) {
    diagnostics.change { $0.refusalRecorder = recorder }
  }

  /// Has procedures of this queue, and of groups on it, that execute from now on, ask `standIn` instead of what is
  /// outside of the program. It replaces one of the same type.
  package func use(_ standIn: some StandIn) {
    diagnostics.change { settings in
      settings.standIns.removeAll { type(of: $0) == type(of: standIn) }
      settings.standIns.append(standIn)
    }
  }

  deinit {
    list.orphan()
    if list.count == 0 { diagnostics.disarm() }
  }

  /// The queue whose procedures run on Dispatch's main queue, one at a time.
  ///
  /// On Apple platforms that is the main thread. On Linux it is so only while that thread runs
  /// `RunLoop.main`: with an `async` main, an `await` at the top level, or `dispatchMain()`, Dispatch
  /// serves the main queue, and the main actor with it, on threads of its own, still one block at a time.
  public static let main = ProcedureQueue(
    name: "main", maxConcurrentProcedureCount: 1, underlyingQueue: .main)

  // MARK: Steering

  /// Whether nothing new is started. Executing procedures go on, cancelled ones finish.
  ///
  /// A suspended queue that you release is resumed, since no caller can do it any more. Cancel its procedures if they
  /// should not run.
  public var isSuspended: Bool {
    get { list.isSuspended }
    set { list.isSuspended = newValue }
  }

  /// How many procedures may be between started and finished. Lowering it interrupts nothing.
  public var maxConcurrentProcedureCount: Int {
    get { list.limit }
    set {
      if newValue <= 0 {
        stopBecauseOfMisuse(
          "maxConcurrentProcedureCount of queue '\(name)' must be at least 1, not \(newValue); "
            + "leave it out, or .max, for no limit; set isSuspended to hold procedures back.")
      }
      list.limit = newValue
    }
  }

  /// Refuses all procedures that are added from here on. Procedures on the queue go on, and finish.
  ///
  /// A refused procedure is cancelled with `ProcedureError.Code.queueClosed` and finishes without
  /// executing, `add` returns false, and `diagnosticsHandler` is called. Procedures that its
  /// members produce are refused in the same way; their children and the prerequisites of their conditions
  /// are part of them, and accepted. Each concurrent `add` is either before or after it. It stays
  /// closed; to close it again changes nothing.
  public func close() {
    list.close()
  }

  /// Closes the queue, and waits until the procedures on it have finished.
  ///
  /// ```swift
  /// await queue.drain()   // nothing runs on the queue any more, and nothing ever will
  /// ```
  ///
  /// A suspended queue is not resumed. Cancelling the waiting task ends the wait, and the queue
  /// remains closed; in a task that is cancelled it does not wait. A limit on the time is the same:
  ///
  /// ```swift
  /// let isDone = try await withTask(cancelledBy: .timeout(.seconds(5))) { await queue.drain() }
  /// ```
  ///
  /// - Returns: false if the waiting task was cancelled before they had finished.
  @discardableResult
  public func drain() async -> Bool {
    close()
    return await list.waitUntilEmpty(in: "drain()")
  }

  /// Closes the queue, gives the procedures on it some time to finish, cancels the rest, and waits until that has
  /// finished too.
  ///
  /// ```swift
  /// await queue.drain(grace: .seconds(20))   // as when the system asks the program to end
  /// ```
  ///
  /// The time is by the queue's clock; at zero or less it cancels at once. It marks all procedures that are
  /// left before it delivers any cancel, with the reason `.deadlineExceeded` and no errors. Children that
  /// running groups get after that are cancelled as well. A suspended queue is not resumed: its waiting
  /// procedures are cancelled in the end.
  ///
  /// Cancelling the waiting task ends the grace and the wait: the rest is cancelled before this returns. So a procedure
  /// that ignores its cancel keeps the program no longer than you allow:
  ///
  /// ```swift
  /// try await withTask(cancelledBy: .timeout(.seconds(25))) { await queue.drain(grace: .seconds(20)) }
  /// ```
  ///
  /// - Returns: false if the waiting task was cancelled before all had finished.
  @discardableResult
  public func drain(grace: Duration) async -> Bool {
    close()
    let end = CancellationTokenSource()
    let registration = end.token.onCancel { [list, token = end.token] in
      Procedure.cancel(list, errors: [], reason: token.reason ?? .requested)
    }
    defer { registration.remove() }
    end.cancel(after: grace, clock: list.context.clock)
    return await withTaskCancellationHandler {
      // In a procedure of the queue it ends, too: that one is cancelled after the time as the others are.
      await list.waitUntilEmpty(as: nil)
    } onCancel: {
      end.cancel(.taskCancelled)
    }
  }

  /// Cancels every procedure that has not finished. It does not affect later ones.
  ///
  /// All of them are marked before the first cancel is delivered, so none starts because another made room.
  public func cancelAll(withErrors errors: [any Error] = []) {
    Procedure.cancel(
      list.procedures, errors: errors,
      reason: errors.first.map(CancellationReason.failure) ?? .requested)
  }

  /// Cancels every procedure that has not finished, with an error, or without one for nil.
  public func cancelAll(withError error: (any Error)?) {
    cancelAll(withErrors: error.map { [$0] } ?? [])
  }

  // MARK: Looking

  /// The procedures that have not finished, in the order in which they were added. O(n log n).
  public var procedures: [Procedure] { list.procedures }

  /// How many procedures have not finished.
  public var count: Int { list.count }

  /// The waits of all unfinished procedures of this queue: a dependency, a condition, a category
  /// that another one holds, a slot, an event that is held back, an observer that is called
  /// elsewhere. The first line says if no thread of Dispatch's pool begins any of them, so that spare threads do.
  ///
  /// Asks each procedure in turn; nothing is stopped for it. O(procedures + their waits).
  public func snapshot() -> ProcedureQueueSnapshot {
    var queue = description
    if list.context.scheduler.isStalled {
      queue += ", on spare threads: each thread of Dispatch's pool is blocked"
    }
    return ProcedureQueueSnapshot(of: procedures, on: queue)
  }

  /// Blocks until there is a moment without unfinished procedures.
  ///
  /// A procedure of this queue that calls it waits for itself. Once that has lasted 100 ms, the procedure is
  /// cancelled with `ProcedureError.Code.dependencyCycle`, and this returns. Both are reported by name, to
  /// `diagnosticsHandler` or else to standard error.
  ///
  /// Nor call it on the main thread if something on the queue needs the main actor: a `MainActorProcedure`, a closure
  /// that is written there, as at the top level of `main.swift`, an observer that is called there. Neither would go on,
  /// which is reported after a second.
  @available(*, noasync, message: "await waitUntilAllFinished() instead")
  public func blockUntilAllFinished() {
    list.waitUntilEmpty()
  }

  /// Waits until there is a moment without unfinished procedures, or the waiting task is cancelled.
  ///
  /// In a task that is cancelled it does not wait: `count` says whether procedures are left, as `drain()` does. The body
  /// of a procedure of this queue would wait for itself: within some seconds that procedure is cancelled, with
  /// `ProcedureError.Code.dependencyCycle`.
  public func waitUntilAllFinished() async {
    _ = await list.waitUntilEmpty()
  }

  /// The clock of delays and timeouts on the queue; tasks may sleep on it, and deadlines of tokens may be by it.
  ///
  /// It is the clock that the queue was made with: if that is a test's, a sleep ends when the test
  /// says so.
  public var clock: TimerClock { list.context.clock }

  /// Receives the events of the queue, which does not keep it alive.
  public weak var delegate: (any ProcedureQueueDelegate)? {
    get { delegateReference.delegate }
    set { delegateReference.set(newValue, of: self) }
  }

  /// Receives probable mistakes, such as a refused `finish()`.
  ///
  /// Called on the thread on which it is noticed, with no lock held. It must not block.
  public var diagnosticsHandler: (@Sendable (ProcedureDiagnostic) -> Void)? {
    get { diagnostics.settings.handler }
    set { diagnostics.change(lookingFrom: list) { $0.handler = newValue } }
  }

  /// The time after which a cancelled procedure that has not finished is reported; nil, the
  /// default, for never.
  ///
  /// Reported once for each procedure to `diagnosticsHandler`, with how long it has lingered at least, by the
  /// queue's clock, at most half the period later. Nothing is killed. Counts in groups too; set late, also for
  /// procedures that have been cancelled before, from now on.
  public var cancellationGracePeriod: Duration? {
    get { diagnostics.settings.gracePeriod }
    set { diagnostics.change(lookingFrom: list) { $0.gracePeriod = newValue } }
  }

  /// The time after which a wait is reported; nil for never, default ten seconds.
  ///
  /// `diagnosticsHandler` receives a wait for an observer that holds an event back, for an observer that is called on
  /// the main actor or on a queue and has not returned, for a condition that has not answered, for a dependency that
  /// is on no queue, and for a `finish()` that has probably been forgotten. Without a handler the last two are written
  /// to standard error, once for each cause.
  ///
  /// Reported once for each such wait, by the queue's clock, after the delay and at most half of it later. A look
  /// goes through the first five hundred procedures of each kind: running ones, waiting ones and so on. Changed, as the
  /// handler, it counts for present waits, too: from now on.
  public var waitReportDelay: Duration? {
    get { diagnostics.settings.waitReportDelay }
    set { diagnostics.change(lookingFrom: list) { $0.waitReportDelay = newValue } }
  }

  /// The `waitReportDelay` of each queue that is made from here on; nil for never, default ten seconds.
  ///
  /// Also the time after which a wait for a procedure on no queue is written to standard error. Set it when the program
  /// begins.
  public static var defaultWaitReportDelay: Duration? {
    get { MissingReport.defaultDelay.withLock { $0 } }
    set { MissingReport.defaultDelay.withLock { $0 = newValue } }
  }
}

extension ProcedureQueue: CustomStringConvertible {
  /// For example `'images' (3 unfinished, at most 4 at once)`.
  public var description: String {
    var parts = ["\(count) unfinished"]
    if isSuspended { parts.append("suspended") }
    if maxConcurrentProcedureCount != .max {
      parts.append("at most \(maxConcurrentProcedureCount) at once")
    }
    return "'\(name)' (\(parts.joined(separator: ", ")))"
  }
}

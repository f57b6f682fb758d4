public import Dispatch
internal import ProcedurePrimitives

/// Runs procedures on Dispatch, by priority, and then in the order in which they became ready.
///
/// ```swift
/// let queue = ProcedureQueue(name: "images", maxConcurrentProcedureCount: 4)
/// queue.add(BlockProcedure { print("on a worker") })
/// await queue.waitUntilAllFinished()
/// ```
///
/// A procedure that waits for its dependencies takes no slot; an executing one holds its slot until
/// it has finished. With `maxConcurrentProcedureCount: 1` a queue is serial, in the order above. If
/// you release a queue, it still runs the procedures on it.
///
/// ## Cancellation
/// A cancelled procedure that has not started finishes promptly: it needs no free slot, and the
/// queue may be suspended.
///
/// ## Cost
/// A procedure needs no thread and no Dispatch queue of its own. A burst of small procedures costs
/// a few Dispatch blocks: a worker runs one procedure after another, and requests a further worker
/// if more procedures can start.
public final class ProcedureQueue: Sendable {
  let list: ProcedureList
  private let delegateReference: QueueDelegateReference
  private let diagnostics: QueueDiagnostics

  /// The name in logs and errors. You may set it on any thread.
  public var name: String {
    get { diagnostics.queueName }
    set { diagnostics.change { $0.queueName = newValue } }
  }

  /// The Dispatch quality of service of its workers, as given to `init`.
  public let qualityOfService: DispatchQoS.QoSClass

  /// Makes a queue.
  ///
  /// - Parameters:
  ///   - name: the name in logs and errors.
  ///   - maxConcurrentProcedureCount: how many procedures may execute at once.
  ///   - qualityOfService: the quality of the global Dispatch queue on which workers run.
  ///   - underlyingQueue: the Dispatch queue on which workers run instead: it calls `execute()`,
  ///     overrides and observers. After a few procedures a worker lets other blocks of that queue
  ///     go first. A concurrent queue uses the threads of Dispatch's shared pool: for work that
  ///     blocks, see `init(threads:)`.
  ///   - clock: the clock of delays and timeouts.
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
  /// Its procedures neither block nor need a thread of Dispatch's shared pool, on which other
  /// queues, tasks and blocks run: on Linux the pool has as many threads as there are processors,
  /// and gets one more for each second in which all of them are blocked. The queue has one thread
  /// more than `threads`, on which cancelled procedures end while the others are blocked. An idle
  /// thread goes back to Dispatch.
  ///
  /// - Parameters:
  ///   - name: the name in logs and errors.
  ///   - threads: how many procedures may execute at once: at least 1. Dispatch has some 250
  ///     threads for all such queues of the process.
  ///   - qualityOfService: the quality of the threads.
  ///   - clock: the clock of delays and timeouts.
  public convenience init(
    name: String? = nil, threads: Int, qualityOfService: DispatchQoS.QoSClass = .default,
    clock: TimerClock = .continuous
  ) {
    guard threads > 0 else {
      stopBecauseOfMisuse(
        "A queue with \(threads) threads would run nothing. Give it one at least.")
    }
    // One thread more runs turns, such as the ends of cancelled procedures, while the others are
    // blocked.
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

  /// Turns off the search for wait cycles, to measure its cost.
  package func disableWaitWatch() {
    diagnostics.stuckNote.disable()
  }

  /// Calls `recorder` with each procedure that is about to be added, even after the owner has
  /// released the queue.
  ///
  /// - Returns: the key for `removeRecorder`.
  @discardableResult
  package func record(_ recorder: @escaping @Sendable (Procedure) -> Void) -> Int {
    delegateReference.add(recorder)
  }

  package func removeRecorder(_ key: Int) {
    delegateReference.removeRecorder(key)
  }

  /// Calls `recorder` for each procedure that the queue, or a group on it, refuses.
  package func recordRefusals(_ recorder: @escaping @Sendable (ProcedureDiagnostic) -> Void) {
    diagnostics.change { $0.refusalRecorder = recorder }
  }

  /// Sets a test double for an external resource. Procedures of this queue that execute from now on
  /// use it, in groups too. It replaces a double of the same type.
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
  /// On Apple platforms the main queue runs on the main thread. On Linux it does so only while that
  /// thread runs `RunLoop.main`: with an `async` main, an `await` at the top level, or
  /// `dispatchMain()`, Dispatch runs the main queue, and the main actor with it, on its own
  /// threads, still one block at a time.
  public static let main = ProcedureQueue(
    name: "main", maxConcurrentProcedureCount: 1, underlyingQueue: .main)

  // MARK: Steering

  /// Whether the queue keeps procedures from starting. Executing procedures go on, and cancelled
  /// ones finish.
  ///
  /// If you release a suspended queue, it is resumed, since no code can resume it any more. Cancel
  /// its procedures if they should not run.
  public var isSuspended: Bool {
    get { list.isSuspended }
    set { list.isSuspended = newValue }
  }

  /// How many procedures may execute at once. Lowering it interrupts none of them.
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

  /// Refuses all procedures that are added from now on. Procedures on the queue go on, and finish.
  ///
  /// A refused procedure is cancelled with `ProcedureError.Code.queueClosed` and finishes without
  /// executing, `add` returns false, and `diagnosticsHandler` is called. Procedures that its
  /// members produce are refused in the same way; children of its groups, and prerequisites of its
  /// members' conditions, are accepted. Each concurrent `add` is either before or after the close.
  /// The queue stays closed; closing it again has no effect.
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
  /// remains closed; in a cancelled task it does not wait. So you can limit the time:
  ///
  /// ```swift
  /// let isDone = try await withTask(cancelledBy: .timeout(.seconds(5))) { await queue.drain() }
  /// ```
  ///
  /// - Returns: false if the waiting task was cancelled before the procedures had finished.
  @discardableResult
  public func drain() async -> Bool {
    close()
    return await list.waitUntilEmpty(in: "drain()")
  }

  /// Closes the queue, gives the procedures on it some time to finish, then cancels the others, and
  /// waits until these have finished, too.
  ///
  /// ```swift
  /// await queue.drain(grace: .seconds(20))   // as when the system asks the program to end
  /// ```
  ///
  /// The time is by the queue's clock; zero or less cancels at once. All unfinished procedures are
  /// marked before any cancel is delivered, with the reason `.deadlineExceeded` and no errors.
  /// Later children of running groups are cancelled as well. A suspended queue is not resumed: its
  /// waiting procedures are cancelled in the end.
  ///
  /// Cancelling the waiting task ends the grace period and the wait: unfinished procedures are
  /// cancelled before the call returns. So a procedure that ignores its cancel delays the program
  /// no longer than you allow:
  ///
  /// ```swift
  /// try await withTask(cancelledBy: .timeout(.seconds(25))) {
  ///   await queue.drain(grace: .seconds(20))
  /// }
  /// ```
  ///
  /// - Returns: false if the waiting task was cancelled before all had finished.
  @discardableResult
  public func drain(grace: Duration) async -> Bool {
    // 1. Nothing is added from now on but by members.
    close()
    // 2. The end of the time, and a cancel of this task, cancel whatever is left.
    let end = CancellationTokenSource()
    let registration = end.token.onCancel { [list, token = end.token] in
      Procedure.cancel(list, errors: [], reason: token.reason ?? .requested)
    }
    defer { registration.remove() }
    end.cancel(after: grace, clock: list.context.clock)
    return await withTaskCancellationHandler {
      // 3. The wait is recorded for no body: a procedure of the queue that calls this is cancelled
      //    after the grace period like the others.
      await list.waitUntilEmpty(as: nil)
    } onCancel: {
      end.cancel(.taskCancelled)
    }
  }

  /// Cancels every procedure that has not finished. It does not affect later ones.
  ///
  /// All of them are marked before the first cancel is delivered, so none starts because another
  /// one freed its slot.
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

  /// Returns the waits of all unfinished procedures of this queue: for a dependency, a condition, a
  /// category, a slot, an event that is held back, or an observer that is called elsewhere. Its
  /// first line says if all threads of Dispatch's pool are blocked, so that spare ones run the
  /// queue.
  ///
  /// It reads one procedure after another, and stops none. O(procedures + their waits).
  public func snapshot() -> ProcedureQueueSnapshot {
    var queue = description
    if list.context.scheduler.isStalled {
      queue += ", on spare threads: each thread of Dispatch's pool is blocked"
    }
    return ProcedureQueueSnapshot(of: procedures, on: queue)
  }

  /// Blocks until there is a moment without unfinished procedures.
  ///
  /// A procedure of this queue that calls it waits for itself. Once that has lasted 100 ms, the
  /// procedure is cancelled with `ProcedureError.Code.dependencyCycle`, and the call returns. The
  /// report, to `diagnosticsHandler` or on standard error, names the procedure and the call.
  ///
  /// Do not call it on the main thread if the queue needs the main actor: for a
  /// `MainActorProcedure`, for a closure that is written on it, as at the top level of
  /// `main.swift`, or for an observer. Both would wait forever, which is reported after a second.
  @available(*, noasync, message: "await waitUntilAllFinished() instead")
  public func blockUntilAllFinished() {
    list.waitUntilEmpty()
  }

  /// Waits until there is a moment without unfinished procedures, or the waiting task is cancelled.
  ///
  /// A cancelled task does not wait: read `count` to see whether procedures are left. The body of a
  /// procedure of this queue would wait for itself: within some seconds that procedure is cancelled
  /// with `ProcedureError.Code.dependencyCycle`.
  public func waitUntilAllFinished() async {
    _ = await list.waitUntilEmpty()
  }

  /// The clock of delays and timeouts on the queue. You can also use it for a task's sleep or a
  /// token's deadline.
  ///
  /// It is the clock given to `init`: on the clock of a test, a sleep ends when the test advances
  /// it.
  public var clock: TimerClock { list.context.clock }

  /// Receives the events of the queue. The reference is weak.
  public weak var delegate: (any ProcedureQueueDelegate)? {
    get { delegateReference.delegate }
    set { delegateReference.set(newValue, of: self) }
  }

  /// Receives probable mistakes, such as a refused `finish()`.
  ///
  /// It is called on the thread that notices the mistake, with no lock held. It must not block.
  public var diagnosticsHandler: (@Sendable (ProcedureDiagnostic) -> Void)? {
    get { diagnostics.settings.handler }
    set { diagnostics.change(lookingFrom: list) { $0.handler = newValue } }
  }

  /// The time after which a cancelled procedure that has not finished is reported; by default nil,
  /// for never.
  ///
  /// `diagnosticsHandler` receives one report for each such procedure, in groups too, by the
  /// queue's clock and at most half the period late, with the least time that it has lingered.
  /// Nothing is killed. A new period also applies to procedures cancelled before, from now on.
  public var cancellationGracePeriod: Duration? {
    get { diagnostics.settings.gracePeriod }
    set { diagnostics.change(lookingFrom: list) { $0.gracePeriod = newValue } }
  }

  /// The time after which a wait is reported; nil for never. The default is ten seconds.
  ///
  /// `diagnosticsHandler` receives waits for an observer that holds an event back, for an observer
  /// that is called on the main actor or on a queue and has not returned, for a condition that has
  /// not answered, for a dependency that is on no queue, and for a `finish()` that has probably
  /// been forgotten. Without a handler the last two are written to standard error, once for each
  /// cause.
  ///
  /// Each such wait is reported once, by the queue's clock, after the delay and at most half of it
  /// late. A look visits the first five hundred procedures of each kind, such as running ones and
  /// waiting ones. A new delay or handler also applies to present waits, from now on.
  public var waitReportDelay: Duration? {
    get { diagnostics.settings.waitReportDelay }
    set { diagnostics.change(lookingFrom: list) { $0.waitReportDelay = newValue } }
  }

  /// The `waitReportDelay` of each queue that is made from now on; nil for never. The default is
  /// ten seconds.
  ///
  /// It is also the time after which a wait for a procedure on no queue is written to standard
  /// error. Set it when the program begins.
  public static var defaultWaitReportDelay: Duration? {
    get { MissingReport.defaultDelay.withLock { $0 } }
    set { MissingReport.defaultDelay.withLock { $0 = newValue } }
  }
}

/// The clock of a queue: `TimerClock`.
@available(*, deprecated, renamed: "TimerClock")
public typealias ProcedureClock = TimerClock

extension ProcedureQueue: CustomStringConvertible {
  /// For example `'images' (3 unfinished, at most 4 at once)`.
  public var description: String {
    var parts = ["\(count) unfinished"]
    if isSuspended { parts.append("suspended") }
    if maxConcurrentProcedureCount != .max {
      parts.append("at most \(maxConcurrentProcedureCount) at once")
    }
    return "'\(name.onOneLine)' (\(parts.joined(separator: ", ")))"
  }
}

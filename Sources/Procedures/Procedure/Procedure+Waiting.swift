internal import Dispatch
internal import ProcedurePrimitives

extension Procedure {
  /// Waits until the procedure has finished and its didFinish observers have returned.
  ///
  /// Cancelling the waiting task ends only the wait, not the procedure: then this returns
  /// `.cancelled([CancellationError()])` while `outcome` is still nil. If the procedure is on no
  /// queue, the wait lasts until it is on one and has finished; after ten seconds a line on
  /// standard error says so.
  @discardableResult
  public final func waitUntilFinished() async -> ProcedureOutcome {
    await outcome(waitingIn: "waitUntilFinished()")
  }

  /// Waits on behalf of the call of that name.
  final func outcome(
    waitingIn name: String, as body: BodyTask? = .current
  ) async -> ProcedureOutcome {
    MissingReport.schedule(for: self)
    await wait(as: body, in: name)
    return outcome ?? .cancelled([CancellationError()])
  }

  /// Adds a waiter, which is notified when the procedure has finished. False if it has already:
  /// then the waiter is not notified.
  final func addFinishWaiter(_ waiter: FinishWaiter) -> Bool {
    withCore { core in
      guard !core.life.isRetired else { return false }
      core.attachments.with(FinishWaiters.self) { $0.append(waiter) }
      return true
    }
  }

  /// Returns when it has finished, or the waiting task is cancelled.
  ///
  /// If it is on no queue, the caller sees to the report.
  ///
  /// - Parameters:
  ///   - body: the body task that continues afterwards, if it is one.
  ///   - name: the call, for reports.
  final func wait(as body: BodyTask?, in name: String) async {
    _ = await FinishWaiter.wait(in: name, for: .procedure(self), as: body) { task in
      withCore { core in
        if core.life.isRetired { return true }
        if Task.isCancelled { return false }
        core.attachments.with(FinishWaiters.self) { $0.append(task) }
        return nil
      }
    } leaving: { [self] place in
      withCore { $0.waiters?.remove(at: place) }
    }
  }
}

extension Procedure {
  /// Blocks the calling thread until the procedure has finished and its didFinish observers have
  /// returned.
  ///
  /// Never call it from work that the procedure waits for: neither would end. Once that has lasted
  /// 100 ms, both are cancelled with `ProcedureError.Code.dependencyCycle`, and this returns. Never
  /// call it on the main thread if the procedure needs the main actor: it would wait forever, which
  /// the queue reports after a second. In `async` code await `waitUntilFinished()`.
  ///
  /// - Returns: how it ended, or `.cancelled` with that error.
  @available(*, noasync, message: "await waitUntilFinished() instead")
  @discardableResult
  public final func blockUntilFinished() -> ProcedureOutcome {
    MissingReport.schedule(for: self)
    let (semaphore, place) = (DispatchSemaphore(value: 0), FinishWaiter.Place())
    let call = WaitingCall(
      name: "blockUntilFinished()", instead: "await waitUntilFinished()", target: .procedure(self),
      in: place)
    if addFinishWaiter(.thread(semaphore, place)), let error = call.block(on: semaphore) {
      _ = withCore { $0.waiters?.remove(at: place) }
      return outcome ?? .cancelled([error])
    }
    guard let outcome else {
      stopBecauseOfInconsistency(
        "Internal inconsistency: a wait for '\(name)' ended before its finish")
    }
    return outcome
  }
}

/// Waits for a procedure to finish, or for a list to have no members.
enum FinishWaiter: Sendable {
  case task(CheckedContinuation<Bool, Never>, Place)
  case thread(DispatchSemaphore, Place)
  case barrier(QueueBarriers.Ticket)
  case call(@Sendable () -> Void)

  /// The place of a task, or of a thread, among the waiters.
  final class Place: @unchecked Sendable {
    /// Read and changed by the functions of `FinishWaiters` only, under the lock of the waiters.
    @safe @exclusivity(unchecked) fileprivate var key: SlabKey?
    private let status = AtomicByte(0)

    /// Whether it stands in the line. One atomic load.
    fileprivate(set) var isWaiting: Bool {
      get { status.load() != 0 }
      set { status.store(newValue ? 1 : 0) }
    }
  }

  private var place: Place? {
    switch self {
    case .task(_, let place), .thread(_, let place): place
    case .barrier, .call: nil
    }
  }

  /// The waiter joins the line, at that key.
  fileprivate func join(at key: SlabKey) {
    guard let place else { return }
    (place.key, place.isWaiting) = (key, true)
  }

  /// The waiter was taken out of the line: from now on it only waits for a thread.
  fileprivate func leave() { place?.isWaiting = false }

  /// - Parameter isOver: false for a task that was cancelled before.
  func resume(isOver: Bool = true) {
    switch self {
    case .task(let continuation, _): continuation.resume(returning: isOver)
    case .thread(let semaphore, _): semaphore.signal()
    case .barrier(let ticket): ticket.finished()
    case .call(let body): body()
    }
  }

  /// Not inlined: the compiler does not know the size of a continuation, so the caller would have
  /// to look up its type.
  @inline(never)
  static func resume(_ waiters: [FinishWaiter]) {
    for waiter in waiters { waiter.resume() }
  }

  /// Returns when the calling task is resumed, or cancelled.
  ///
  /// - Parameters:
  ///   - name: the call, for reports.
  ///   - target: the procedure or list that is waited for.
  ///   - body: the body task that continues afterwards, if it is one.
  ///   - enter: adds the task to the waiters, unless it returns the answer.
  ///   - leave: removes it from the waiters; nil if it is not among them.
  /// - Returns: false if the task was cancelled before.
  static func wait(
    in name: String, for target: WaitingCall.Target, as body: BodyTask? = .current,
    entering enter: (FinishWaiter) -> Bool?,
    leaving leave: @escaping @Sendable (Place) -> FinishWaiter?
  ) async -> Bool {
    let place = Place()
    // 1. Record the wait first, for the search for cycles: the task may be suspended from then on.
    let call = body.begin(
      WaitingCall(name: name, target: target, in: place).ended { _ in
        // An awaited procedure is in the cycle itself: the wait lasts until its end.
        if case .procedure = target { return }
        leave(place)?.resume(isOver: false)
      })
    defer { call?.end() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // 2. `enter` decides under the lock that guards the waiters: the wait is over, or the task
        //    was cancelled, or a later event finds it there.
        if let answer = enter(.task(continuation, place)) {
          continuation.resume(returning: answer)
        } else if call != nil {
          target.noteWait()
        }
      }
    } onCancel: {
      // 3. The thread that takes the waiter out of the line resumes it: no other can.
      leave(place)?.resume(isOver: false)
    }
  }
}

/// The waiters for one event, in order: joining and leaving is O(1).
final class FinishWaiters: Attachment, @unchecked Sendable {
  private struct Line: Sendable {
    var waiters = Slab<FinishWaiter>()
    var order = SlabList()

    mutating func append(_ waiter: FinishWaiter) -> SlabKey { waiters.append(waiter, to: &order) }
    mutating func remove(_ key: SlabKey) -> FinishWaiter? { waiters.remove(key, from: &order) }
    mutating func popFirst() -> FinishWaiter? { waiters.popFirst(from: &order) }
  }

  /// The lock of the procedure, or of the list, that has the waiters guards it.
  @safe @exclusivity(unchecked) private var line = Line()

  func append(_ waiter: FinishWaiter) {
    waiter.join(at: line.append(waiter))
  }

  /// Removes a task, or a thread, that no longer waits; nil if it is not here.
  func remove(at place: FinishWaiter.Place) -> FinishWaiter? {
    let waiter = place.key.flatMap { line.remove($0) }
    waiter?.leave()
    return waiter
  }

  var isEmpty: Bool { line.order.isEmpty }
  var count: Int { line.waiters.count }
  var all: [FinishWaiter] { line.waiters.elements(of: line.order) }

  /// Removes the first, to be resumed without the lock.
  func takeFirst() -> FinishWaiter? {
    let waiter = line.popFirst()
    waiter?.leave()
    return waiter
  }

  /// Removes all, to be resumed without the lock. No waiter ever gets the place of another.
  func takeAll() -> [FinishWaiter] {
    var all: [FinishWaiter] = []
    all.reserveCapacity(count)
    while let waiter = takeFirst() { all.append(waiter) }
    return all
  }
}

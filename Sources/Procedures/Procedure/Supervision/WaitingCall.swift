internal import Dispatch
internal import ProcedurePrimitives

/// A call that blocks the calling thread, or suspends the calling task, for procedures.
///
/// Two kinds never return by themselves, and are found:
///
/// - On the main thread, blocked for a procedure that does not end without it. That is reported, to the handler of the
///   queue of what needs it, or else to standard error. The call goes on.
/// - In a procedure, for one that does not end before that procedure does: its own queue, its group, the next in line
///   of a serial queue. The `WaitWatch` finds the cycle, for the caller has the call as its `Obstacle`, and ends it:
///   the members are cancelled, and the call returns. Whose call it is, the thread knows in a turn (`BlockedTurn`), and
///   the task in a body (`BodyTask`).
struct WaitingCall: Sendable {
  /// What is waited for.
  enum Target: Sendable {
    case procedure(Procedure)
    /// All members of the list of a queue.
    case all(ProcedureList)
    /// One of the members.
    case any(ProcedureList)

    /// Where a cycle through the caller is found.
    fileprivate var list: ProcedureList? {
      switch self {
      case .procedure(let procedure): procedure.read { $0.list }
      case .all(let list), .any(let list): list
      }
    }

    /// In a sentence.
    var nameForPeople: String {
      switch self {
      case .procedure(let procedure): "'\(procedure.name)'"
      case .all(let list), .any(let list): "queue '\(list.context.supervisor.queueName)'"
      }
    }
  }

  /// The function.
  let name: String
  /// What to write in its place, if it blocks.
  var instead = ""
  let target: Target

  /// Whether it may return too early: who is waited for does not count on the caller.
  var isEndable: Bool { if case .any = target { false } else { true } }

  /// The procedures that have to finish first.
  ///
  /// - Parameter waiter: that whose call it is.
  func awaited(by waiter: Procedure?) -> [Procedure] {
    switch target {
    case .procedure(let procedure): [procedure]
    case .all(let list):
      // In its own queue a procedure waits for itself, whatever becomes of the others.
      if let waiter, waiter.read({ $0.list })?.listOfQueue === list {
        [waiter]
      } else {
        list.procedures
      }
    case .any(let list): list.procedures
    }
  }
}

/// The blocking call that a procedure's turn is in.
final class BlockedTurn: Attachment, @unchecked Sendable {
  /// How long a call lasts before it is one that may never return.
  fileprivate static let patience = DispatchTimeInterval.milliseconds(100)

  @safe @exclusivity(unchecked) fileprivate var call: WaitingCall?
  @safe @exclusivity(unchecked) fileprivate var semaphore: DispatchSemaphore?
  @safe @exclusivity(unchecked) fileprivate var error: ProcedureError?
}

extension Procedure {
  /// Blocks its turn, in which the calling thread is.
  final func block(
    on semaphore: DispatchSemaphore, in call: WaitingCall
  ) -> ProcedureError? {
    if semaphore.wait(timeout: .now() + BlockedTurn.patience) == .success { return nil }
    let list = read { core in
      core.attachments.with(BlockedTurn.self) {
        ($0.call, $0.semaphore, $0.error) = (call, semaphore, nil)
      }
      return core.list
    }
    if let list { list.context.supervisor.noteStuck(list) }
    semaphore.wait()
    return read { core in
      core.attachments.with(BlockedTurn.self) { turn in
        (turn.call, turn.semaphore) = (nil, nil)
        return turn.error.take()
      }
    }
  }

  /// The call that its turn has been blocked in for a while, or its body waits in.
  final var waitingCall: WaitingCall? {
    read { $0.attachments.existing(BlockedTurn.self)?.call } ?? bodyTask?.waitingCall
  }

  /// Has its blocking call return with that error. A body waits no longer when it is cancelled.
  ///
  /// The call is no obstacle from here on: the next look comes perhaps before the caller.
  final func endWaitingCall(with error: ProcedureError) {
    bodyTask?.end()
    let semaphore = read { core in
      guard let turn = core.attachments.existing(BlockedTurn.self), turn.call != nil else {
        return DispatchSemaphore?.none
      }
      (turn.call, turn.error) = (nil, error)
      return turn.semaphore
    }
    semaphore?.signal()
  }
}

/// The task of a procedure's body: the task itself, and not one that it has made.
struct BodyTask: Hashable, Sendable {
  private static let waiting = Locked<[BodyTask: WaitingCall]>([:])

  private let hash: Int

  /// Of a body that may wait.
  init(_ task: ProcedureTask.Running) { hash = task.hashValue }

  private init(hash: Int) { self.hash = hash }

  /// That of the caller, or of a child of it, or of another task that prefers an executor; nil for all others.
  static var current: Self? {
    unsafe withUnsafeCurrentTask { task in
      guard let task = unsafe task, unsafe task.unownedTaskExecutor != nil else { return nil }
      return unsafe Self(hash: task.hashValue)
    }
  }

  /// The call that it waits in.
  var waitingCall: WaitingCall? { Self.waiting.withLock { $0[self] } }

  /// It is about to wait, perhaps for what waits for it.
  func begin(_ call: WaitingCall) {
    Self.waiting.withLock { $0[self] = call }
    if let list = call.target.list { list.context.supervisor.noteStuck(list) }
  }

  /// It waits no more.
  func end() {
    _ = Self.waiting.withLock { $0.removeValue(forKey: self) }
  }
}

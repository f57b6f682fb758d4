internal import Dispatch

/// A call that blocks the calling thread for procedures.
///
/// Two of them never return by themselves, and are found once they have lasted:
///
/// - On the main thread, for a procedure that does not end without it. That is reported, to the handler of the queue of
///   what needs it, or else to standard error. The call goes on.
/// - In a procedure, for one that does not end before that procedure does: its own queue, its group, the next in line
///   of a serial queue. The `WaitWatch` finds the cycle, for the caller has the call as its `Obstacle`, and ends it:
///   the members are cancelled, and the call returns.
struct BlockingCall: Sendable {
  /// What is waited for.
  enum Target: Sendable {
    case procedure(Procedure)
    /// All members of the list of a queue.
    case all(ProcedureList)
    /// One of the members.
    case any(ProcedureList)

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
  /// What to write in its place.
  let instead: String
  let target: Target

  /// Whether it may return too early: who is waited for does not count on the caller.
  var isEndable: Bool { if case .any = target { false } else { true } }

  /// The procedures that have to finish first.
  ///
  /// - Parameter waiter: that whose turn the calling thread runs.
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

  @safe @exclusivity(unchecked) fileprivate var call: BlockingCall?
  @safe @exclusivity(unchecked) fileprivate var semaphore: DispatchSemaphore?
  @safe @exclusivity(unchecked) fileprivate var error: ProcedureError?
}

extension Procedure {
  /// Blocks its turn, in which the calling thread is.
  final func block(
    on semaphore: DispatchSemaphore, in call: BlockingCall
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

  /// The blocking call that its turn has been in for a while.
  final var blockingCall: BlockingCall? { read { $0.attachments.existing(BlockedTurn.self)?.call } }

  /// Has its blocking call return with that error.
  final func endBlockingCall(with error: ProcedureError) {
    let semaphore = read { core in
      guard let turn = core.attachments.existing(BlockedTurn.self), turn.call != nil else {
        return DispatchSemaphore?.none
      }
      turn.error = error
      return turn.semaphore
    }
    semaphore?.signal()
  }
}

internal import Dispatch
internal import ProcedurePrimitives

/// Places for procedures. A procedure keeps its place until it has finished, and others wait for
/// one.
protocol ProcedurePlaces: AnyObject, Sendable {
  /// Whether `procedure` has one of the places.
  func isKept(by procedure: Procedure) -> Bool
}

/// Procedures of which some, but not all, have to finish.
protocol ProcedureChoice: Sendable {
  /// The unfinished ones; empty if the end of the wait is certain.
  var awaited: [Procedure] { get }
  /// How many of these have to finish.
  var missingCount: Int { get }
}

/// A call that blocks the calling thread, or suspends the calling task, for procedures.
///
/// Two kinds of call would never return, and are found:
///
/// - The main thread is blocked for a procedure that needs it. That is reported to the handler of
///   the procedure's queue, or else to standard error. The call goes on.
/// - A procedure waits for one that does not end before it does: its own queue, its group, the next
///   in line of a serial queue, room that the procedure keeps. The call is the caller's `Wait`, so
///   the `WaitWatch` finds the cycle, and ends it: the members are cancelled, and the call returns.
///   The thread knows the caller in a turn (`TurnNote`), and the task knows it in a body
///   (`BodyTask`).
struct WaitingCall: BodyWait {
  /// The procedures, or the event, that the call waits for.
  enum Target: Sendable {
    case procedure(Procedure)
    /// Its next event, or a new fraction of its progress. The caller does not keep it alive.
    case next(of: Weak<Procedure>)
    /// All members of the list of a queue.
    case all(ProcedureList)
    /// A place of the procedures that have one there.
    case room(any ProcedurePlaces, ProcedureList)
    /// Some of several procedures, for a procedure in that list.
    case some(any ProcedureChoice, ProcedureList)
    /// A token of another owner, which that wait of the body awaits.
    case token(any BodyWait)
    /// The cancel of the procedure itself.
    case ownCancel

    /// The list where a cycle through the caller is found.
    fileprivate var list: ProcedureList? {
      switch self {
      case .procedure(let procedure): procedure.peek { $0.list }
      case .next(let procedure): procedure.object?.peek { $0.list }
      case .all(let list), .room(_, let list), .some(_, let list): list
      case .token, .ownCancel: nil
      }
    }

    /// The target as a part of a sentence.
    var nameForPeople: String {
      switch self {
      case .procedure(let procedure): "'\(procedure.name)'"
      case .next(let procedure): procedure.object.map { "'\($0.name)'" } ?? "a procedure"
      case .all(let list), .room(_, let list): "queue '\(list.context.supervisor.queueName)'"
      case .some(let choice, _):
        choice.awaited.prefix(5).map { "'\($0.name)'" }.joined(separator: " or ")
      case .token: "a token"
      case .ownCancel: "its own token"
      }
    }

    /// A wait has begun, which may close a cycle.
    func noteWait() {
      if let list { list.context.supervisor.noteStuck(list) }
    }
  }

  /// The name of the called function.
  let name: String
  /// The code to write in its place, if it blocks.
  let instead: String
  let target: Target
  let serial: UInt64
  /// Whether a token of another owner may end the call: then it is no wait for procedures.
  private(set) var isEndedByToken = false
  /// Whether a handler blocks in it that is called for the cancel of the procedure, which is
  /// delivered afterwards.
  private(set) var isInHandler = false
  /// Whether code of the procedure's may run beside the handler: then it is no wait for procedures.
  private(set) var isBesideUserCode = false
  /// Whether the line in which the caller stands has it still.
  private var isInLine: @Sendable () -> Bool
  /// Makes the call return when it is in a cycle, which no member of the cycle would do.
  private var giveUp: (@Sendable (ProcedureError) -> Void)?

  init(
    name: String, instead: String = "", target: Target, serial: UInt64 = BodyTask.nextSerial(),
    while isInLine: @escaping @Sendable () -> Bool
  ) {
    (self.name, self.instead, self.target, self.serial) = (name, instead, target, serial)
    self.isInLine = isInLine
  }

  /// - Parameter place: the caller's place among the waiters.
  init(name: String, instead: String = "", target: Target, in place: FinishWaiter.Place) {
    self.init(name: name, instead: instead, target: target) { place.isWaiting }
  }

  var token: ObjectIdentifier? { if case .token(let wait) = target { wait.token } else { nil } }
  var hasDeadline: Bool { if case .token(let wait) = target { wait.hasDeadline } else { false } }
  var isWaiting: Bool { isInLine() }

  /// The call as a part of a sentence: "waitUntilFinished()", or "events of 'load'".
  var words: String {
    if case .next = target { "\(name) of \(target.nameForPeople)" } else { name }
  }

  /// Whether the call can only return if the procedures finish.
  var isProvable: Bool { !isEndedByToken && !isBesideUserCode }

  var isForRoom: Bool { if case .room = target { true } else { false } }

  var isForToken: Bool { if case .token = target { true } else { false } }

  /// How many of the procedures have to finish.
  var count: Int {
    switch target {
    case .room: 1
    // One of them may have ended since the caller read `awaited`.
    case .some(let choice, _): max(choice.missingCount, 1)
    case .procedure, .next, .all, .token, .ownCancel: .max
    }
  }

  /// A procedure on no queue, without which some of several cannot be enough; nil if there is none.
  ///
  /// `MissingReport` has that of a call for one procedure.
  var missing: Procedure? {
    guard case .some(let choice, _) = target else { return nil }
    let others = choice.awaited
    let missing = others.filter(\.isOnNoQueue)
    return others.count - missing.count < count ? missing.first : nil
  }

  /// Whether the call is reported if it lasts: the framework cannot know who ends it, and sees
  /// nothing in progress that may end it.
  func isReported(of waiter: Procedure) -> Bool {
    switch target {
    // With a deadline it ends in time.
    case .token(let wait): return !wait.hasDeadline
    case .procedure, .all, .room, .some:
      // Otherwise it is the search for cycles that finds it.
      return !isProvable && !awaited(by: waiter).contains { $0.goesOn(without: waiter) }
    case .next(let procedure):
      // Its own events are awaited until its cancel. A procedure that never starts has a report of
      // its own.
      guard let procedure = procedure.object, procedure !== waiter, procedure.state > .pending
      else { return false }
      return !procedure.goesOn(without: waiter)
    case .ownCancel: return false
    }
  }

  /// Makes the call return with that error. A task's wait for one procedure returns when the
  /// procedure has ended, which is cancelled.
  ///
  /// From now on it is no wait: the next look may come before the caller.
  func end(with error: ProcedureError) { giveUp?(error) }

  func ended(by giveUp: @escaping @Sendable (ProcedureError) -> Void) -> Self {
    var call = self
    call.giveUp = giveUp
    return call
  }

  fileprivate func blocking(_ thread: BlockedThread) -> Self {
    var call = ended { thread.end(with: $0) }
    call.isInLine = { [isInLine] in isInLine() && thread.error == nil }
    return call
  }

  fileprivate func endedByToken() -> Self {
    var call = self
    call.isEndedByToken = true
    return call
  }

  fileprivate func inHandler() -> Self {
    var call = self
    call.isInHandler = true
    return call
  }

  /// Code of `procedure` may run beside the handler, and may end any wait but that for the end of
  /// `procedure`.
  func besideUserCode(of procedure: Procedure) -> Self {
    if case .procedure(let target) = target, target === procedure { return self }
    var call = self
    call.isBesideUserCode = true
    return call
  }

  /// The procedures that have to finish first.
  ///
  /// - Parameter waiter: the procedure that makes the call.
  func awaited(by waiter: Procedure?) -> [Procedure] {
    switch target {
    case .procedure(let procedure): [procedure]
    // A started procedure may do something at any time, or others may do it: a thread that adds a
    // child reports progress.
    case .next(let procedure): procedure.object.map { $0.state > .pending ? [] : [$0] } ?? []
    case .all(let list):
      // A procedure that waits for its own queue waits for itself, regardless of the others.
      if let waiter, waiter.peek({ $0.list })?.listOfQueue === list {
        [waiter]
      } else {
        list.procedures
      }
    case .room(let room, let list): list.procedures.filter { room.isKept(by: $0) }
    case .some(let choice, _): choice.awaited
    case .token, .ownCancel: []
    }
  }
}

extension Procedure {
  /// Whether it, or a procedure that it waits for, is doing something now: as far as is known it is
  /// not stuck.
  fileprivate final func goesOn(without waiter: Procedure) -> Bool {
    var unvisited = [self]
    var visited: Set = [ObjectIdentifier(waiter), ObjectIdentifier(self)]
    while let procedure = unvisited.popLast() {
      // A larger number is not searched for a report.
      if visited.count > 1_000 { return true }
      let wait = procedure.wait
      switch wait {
      case .nothing where procedure.isFinished: continue
      case .nothing, .thread, .finish, .pendingEvent, .observer, .condition, .suspension:
        return true
      case .exclusion(let obstacles) where obstacles.contains { $0.time != nil }: return true
      default: break
      }
      for other in wait.awaited where visited.insert(ObjectIdentifier(other)).inserted {
        unvisited.append(other)
      }
    }
    return false
  }
}

extension Procedure {
  /// The procedure on its queue whose `cancellationToken` is that one; nil if it is not among the
  /// thousand that are searched.
  final func neighbour(withToken token: ObjectIdentifier) -> Procedure? {
    var unvisited = peek { $0.list }?.outermost.procedures ?? []
    var count = 0
    while count < 1_000, let procedure = unvisited.popLast() {
      if procedure.peek({ $0.registrations?.value.token?.identity }) == token { return procedure }
      if let children = procedure.childList { unvisited += children.procedures }
      count += 1
    }
    return nil
  }
}

/// A thread that a call blocks.
private final class BlockedThread: Sendable {
  private let semaphore: DispatchSemaphore
  private let ended = Locked<ProcedureError?>(nil)

  init(_ semaphore: DispatchSemaphore) { self.semaphore = semaphore }

  /// The error with which the call returns; nil while it waits.
  var error: ProcedureError? { ended.withLock { $0 } }

  func end(with error: ProcedureError) {
    let isFirst = ended.withLock { ended in
      guard ended == nil else { return false }
      ended = error
      return true
    }
    if isFirst { semaphore.signal() }
  }

  func wait() -> ProcedureError? {
    semaphore.wait()
    return error
  }
}

extension WaitingCall {
  /// A call that lasts longer than this may never return.
  private static let patience = DispatchTimeInterval.milliseconds(100)

  /// Blocks the calling thread. If the thread runs a turn, or a step of a body, the call is the
  /// wait of that procedure.
  ///
  /// - Returns: an error if it would never have returned. The semaphore may be signalled later.
  func blockAsWait(on semaphore: DispatchSemaphore) -> ProcedureError? {
    let (procedure, body) = (TurnNote.procedure, BodyTask.current)
    guard procedure != nil || body != nil || UndeliveredCancels.exist else {
      semaphore.wait()
      return nil
    }
    if semaphore.wait(timeout: .now() + Self.patience) == .success { return nil }
    let thread = BlockedThread(semaphore)
    let call = blocking(thread)
    let cancelled = Procedure.beginWaiting(forHandlerIn: call.inHandler())
    defer { for procedure in cancelled { procedure.endWaitingForHandler(in: call) } }
    if let procedure { return procedure.block(thread, in: call) }
    let scope = body.beginWaiting(in: call)
    defer { scope?.end() }
    return thread.wait()
  }
}

/// The blocking call that a procedure's turn is in, and the one that its cancel waits for.
struct BlockedTurn: AttachedValue {
  fileprivate(set) var call: WaitingCall?
  fileprivate(set) var callOfHandler: WaitingCall?
}

extension ProcedureList {
  /// A thread of a member is blocked: that may close a cycle, and what it waits for may have no
  /// thread.
  fileprivate func noteBlocked() {
    context.supervisor.noteStuck(self)
    context.supervisor.noteWait(in: self)
  }
}

extension Procedure {
  /// Blocks the procedure's turn, which the calling thread runs.
  fileprivate final func block(_ thread: BlockedThread, in call: WaitingCall) -> ProcedureError? {
    let list = withCore { core in
      core.attachments.with(BlockedTurn.self) { $0.call = call }
      return core.list
    }
    list?.noteBlocked()
    let error = thread.wait()
    let released = withCore { core in
      core.attachments.with(BlockedTurn.self) { $0.call.take() }
    }
    _ = released
    return error
  }

  /// The calling thread is about to block in `call`, in a handler. Those whose cancels it delivers
  /// afterwards wait for it.
  ///
  /// - Returns: these.
  fileprivate static func beginWaiting(forHandlerIn call: WaitingCall) -> [Procedure] {
    guard UndeliveredCancels.exist else { return [] }
    let waiting = UndeliveredCancels.followers.compactMap { entry -> Procedure? in
      guard let procedure = entry.follower as? Procedure else { return nil }
      let isWaiting = procedure.withCore { core in
        guard entry.isDelivered || core.life.cancel == .marked else { return false }
        return core.attachments.with(BlockedTurn.self) { turn in
          // The handler of one cancel may have begun another: the innermost call returns first.
          turn.callOfHandler = call
          return true
        }
      }
      return isWaiting ? procedure : nil
    }
    for procedure in waiting { procedure.peek { $0.list }?.noteBlocked() }
    call.target.noteWait()
    return waiting
  }

  fileprivate final func endWaitingForHandler(in call: WaitingCall) {
    let released = withCore { core in
      core.attachments.with(BlockedTurn.self) { turn -> WaitingCall? in
        turn.callOfHandler?.serial == call.serial ? turn.callOfHandler.take() : nil
      }
    }
    _ = released
  }

  /// The call that its turn has been blocked in for a while, or its body waits in.
  final var waitingCall: WaitingCall? {
    var reading = WaitReading()
    let wait = numberedWait(inList: false, in: &reading).wait
    return if case .call(let call, _) = wait { call } else { nil }
  }
}

extension BodyTask? {
  /// The task waits in a call from now on, which may close a cycle.
  ///
  /// - Returns: the scope of the call, to be ended; nil if the waits of the task are not tracked.
  func beginWaiting(in call: @autoclosure () -> WaitingCall) -> BodyTask.Scope? {
    guard self != nil else { return nil }
    let call = call()
    let scope = begin(call)
    call.target.noteWait()
    return scope
  }
}

extension BodyTask {
  /// The first call in which the body of `procedure` waits.
  ///
  /// - Parameter ownToken: the object behind the procedure's own token.
  func waitingCall(endedBy ownToken: ObjectIdentifier?) -> WaitingCall? {
    // A task that was taken out of its line, and has no thread yet, goes on.
    let entries = entries
    guard let entry = entries.first, entries.allSatisfy(\.wait.isWaiting) else { return nil }
    func isOwn(_ token: ObjectIdentifier) -> Bool { token == ownToken }
    let wait = entry.wait
    if let call = wait as? WaitingCall {
      return entry.endedBy.map(isOwn) == false ? call.endedByToken() : call
    }
    return WaitingCall(
      name: wait.name, target: wait.token.map(isOwn) == true ? .ownCancel : .token(wait),
      serial: wait.serial
    ) { wait.isWaiting }
  }
}

internal import ProcedurePrimitives

/// Adds procedures to a queue while there is room: at most `limit` of them are unfinished at a
/// time.
///
/// ```swift
/// let jobs = ProcedureFeed(into: queue, atMost: 100)
/// for await request in requests {
///   if !jobs.addIfRoom(Job(request)) { request.answer(.busy) }
/// }
/// ```
///
/// A queue accepts everything that you add, so a fast producer fills the memory. A feed makes the
/// producer wait, or refuses. To feed one sequence, `queue.add(_:atMost:)` is enough.
///
/// A procedure takes a place when it is added, and gives it back when it has finished, after its
/// DidFinish observers, even if it failed. The feed counts only procedures that you add through it:
/// no others on the queue, no produced ones, and no children of a group. Each feed of a queue has
/// its own places.
///
/// If there was no room, the waiting task was cancelled, or the queue is closed, the procedure is
/// cancelled and finishes without executing: every wait for it ends. The close of the queue ends
/// all waits for room.
///
/// ## Ordering
/// Places are given in the order of the calls. Offer a procedure after its dependencies: if
/// procedures that wait for it take all places, it is never added.
///
/// ## Cancellation
/// Cancelling the waiting task ends its wait. Procedures that it added before go on.
///
/// ## Thread safety
/// You may call everything on any thread and in any task, concurrently. A procedure of the queue
/// should not wait for room there: it holds its own slot meanwhile.
///
/// ## Cost
/// A feed costs about a microsecond for each procedure, in addition to adding it. The call for an
/// asynchronous sequence makes two child tasks.
public final class ProcedureFeed: Sendable {
  /// The queue to which it adds procedures. The feed retains it.
  public let queue: ProcedureQueue

  /// How many of its procedures may be unfinished at a time.
  public let limit: Int

  let permits: Permits
  private let registration: CancellationRegistration

  /// Makes a feed without procedures.
  ///
  /// - Parameters:
  ///   - queue: the queue to which it adds them.
  ///   - limit: how many of them may be unfinished at a time: at least 1.
  public init(into queue: ProcedureQueue, atMost limit: Int) {
    guard limit > 0 else {
      stopBecauseOfMisuse(
        "A feed of queue '\(queue.name)' with room for \(limit) procedures would add nothing. "
          + "Give it room for one at least.")
    }
    self.queue = queue
    self.limit = limit
    let permits = Permits(for: limit, until: queue.list.closing)
    self.permits = permits
    registration = queue.list.closing.onCancel { permits.close() }
  }

  deinit { registration.remove() }

  /// How many procedures have a place: they were added, even to a closed queue, and have not
  /// finished.
  public var count: Int { permits.taken }

  /// Waits until there is room, and adds a procedure.
  ///
  /// - Returns: false if the waiting task is cancelled, or the queue closed: then the procedure is
  ///   cancelled, and finishes without executing.
  @discardableResult
  public func add(_ procedure: Procedure) async -> Bool {
    guard await permits.take(on: queue.list, in: "add(_:) of a feed") else {
      procedure.cancel(because: .taskCancelled)
      queue.add(procedure)
      return false
    }
    return addInPlace(procedure)
  }

  /// Adds a procedure if there is room now.
  ///
  /// - Returns: false if there is no room: then the procedure is cancelled with
  ///   `ProcedureError.Code.queueFull`, and finishes without executing. It also returns false if
  ///   the queue is closed.
  @discardableResult
  public func addIfRoom(_ procedure: Procedure) -> Bool {
    guard permits.takeIfFree() else {
      procedure.cancel(withError: ProcedureError(.queueFull, of: queue.name))
      queue.add(procedure)
      return false
    }
    return addInPlace(procedure)
  }

  /// Blocks the calling thread until there is room, and adds a procedure. Use it in code that is
  /// not `async`.
  ///
  /// ```swift
  /// while let line = readLine() { jobs.blockUntilAdded(Job(line)) }
  /// ```
  ///
  /// If all places are held by procedures that wait for the caller, directly or not, none would
  /// become free: the members of that cycle are cancelled with
  /// `ProcedureError.Code.dependencyCycle`, and so is `procedure`. Do not call it on the main
  /// thread if a procedure that holds a place needs the main actor.
  ///
  /// - Returns: false if the queue is closed, as for `add(_:)`, or after such a cycle.
  @available(*, noasync, message: "await add(_:) instead")
  @discardableResult
  public func blockUntilAdded(_ procedure: Procedure) -> Bool {
    if let (semaphore, place) = permits.takeOrStandInLine() {
      let call = WaitingCall(
        name: "blockUntilAdded(_:)", instead: "await add(_:)", target: .room(permits, queue.list),
        in: place)
      if let error = call.block(on: semaphore), permits.leave(at: place) {
        procedure.cancel(withError: error)
        queue.add(procedure)
        return false
      }
    }
    return addInPlace(procedure)
  }

  /// Adds the procedures of a sequence, one after another, each when there is room.
  ///
  /// ```swift
  /// await feed.add(files.lazy.map { Compress($0) })
  /// ```
  ///
  /// The feed asks the sequence for the next procedure only when there is room, so `lazy.map` makes
  /// none before. It returns when the sequence has ended; reaching the end also needs a free place.
  /// It does not wait until the procedures have finished. It also returns when the task is
  /// cancelled or the queue is closed.
  public func add<Procedures: Sequence>(_ procedures: Procedures) async
  where Procedures.Element: Procedure {
    var iterator = procedures.makeIterator()
    while await waitForRoom() {
      guard let next = iterator.next(), await add(next) else { return }
    }
  }

  /// Adds the procedures of an asynchronous sequence, one after another, each when there is room.
  ///
  /// ```swift
  /// try await feed.add(socket.requests.map { Answer($0) })
  /// ```
  ///
  /// The feed asks the sequence for the next procedure only when there is room, and holds no place
  /// while it waits for the sequence. It also returns when the task is cancelled or the queue is
  /// closed: then it asks for no further procedure. A procedure that comes later is cancelled, and
  /// finishes.
  ///
  /// The sequence is iterated in a child task, on the caller's actor. The close of the queue
  /// cancels the child task, and the call returns as soon as the sequence has answered.
  ///
  /// - Throws: the error of the sequence, unless the queue is closed. Procedures added before go
  ///   on.
  public func add<Procedures: AsyncSequence>(
    _ procedures: Procedures
  ) async throws(Procedures.Failure) where Procedures.Element: Procedure {
    let feeding: any Feeding<Procedures.Failure> = IteratorFeeding(
      into: self, procedures.makeAsyncIterator(), in: .current)
    let (actor, closing) = (#isolation, queue.list.closing)
    let result = await withTaskGroup(of: Result<Void, Procedures.Failure>?.self) { group in
      group.addTask { await feeding.run(on: actor) }
      group.addTask {
        await closing.waitUntilCancelled()
        return nil
      }
      // The end of one cancels the other.
      var result = Result<Void, Procedures.Failure>.success(())
      for await end in group {
        group.cancelAll()
        if let end { result = end }
      }
      return result
    }
    try result.get()
  }

  /// The iteration of an asynchronous sequence, in a child task of the call.
  ///
  /// Unchecked because the call hands the iterator to its child task, which uses it on the same
  /// actor, and then waits for the child task.
  private final class IteratorFeeding<Iterator: AsyncIteratorProtocol>: Feeding,
    @unchecked Sendable
  where Iterator.Element: Procedure {
    private let feed: ProcedureFeed
    private var iterator: Iterator
    /// The task of the call, whose waits these are, if its waits are recorded.
    private let body: BodyTask?

    init(into feed: ProcedureFeed, _ iterator: Iterator, in body: BodyTask?) {
      (self.feed, self.iterator, self.body) = (feed, iterator, body)
    }

    func run(on actor: isolated (any Actor)?) async -> Result<Void, Iterator.Failure> {
      BodyTask.beginStandingIn(for: body, endedBy: nil)
      defer { BodyTask.endStandingIn() }
      do throws(Iterator.Failure) {
        while await feed.waitForRoom() {
          guard let next = try await iterator.next(isolation: actor), await feed.add(next) else {
            break
          }
        }
      } catch {
        // After the close the sequence answers to its cancel.
        if !feed.permits.isClosed { return .failure(error) }
      }
      return .success(())
    }
  }

  /// - Returns: false if the task is cancelled, or the queue is closed.
  private func waitForRoom() async -> Bool {
    guard await permits.take(on: queue.list, in: "add(_:) of a feed") else { return false }
    // Not kept while the sequence is asked: that may take long, and others use the feed.
    permits.giveBack()
    return !permits.isClosed
  }

  private func addInPlace(_ procedure: Procedure) -> Bool {
    procedure.withCore { core in core.attachments.with(PermitHolder.self) { $0.permits = permits } }
    return queue.add(procedure)
  }
}

/// The iteration of an asynchronous sequence, as its task knows it: without its type, which a task
/// may not capture.
private protocol Feeding<Failure>: Sendable {
  associatedtype Failure: Error

  /// Adds all procedures of the sequence.
  ///
  /// - Parameter actor: the actor on which the sequence is iterated.
  func run(on actor: isolated (any Actor)?) async -> Result<Void, Failure>
}

extension ProcedureQueue {
  /// Adds the procedures of a sequence while there is room: at most `limit` of them are unfinished
  /// at a time.
  ///
  /// ```swift
  /// await queue.add(pictures.lazy.map { Resize($0) }, atMost: 16)
  /// ```
  ///
  /// The queue asks the sequence for the next procedure only when there is room, so `lazy.map`
  /// makes none before. The call returns when the sequence has ended; reaching the end also needs a
  /// free place. It does not wait until the procedures have finished. It also returns when the task
  /// is cancelled or the queue is closed; procedures added before go on. For several sequences, or
  /// to refuse instead of waiting, make a `ProcedureFeed`.
  public func add<Procedures: Sequence>(
    _ procedures: Procedures, atMost limit: Int
  ) async where Procedures.Element: Procedure {
    await ProcedureFeed(into: self, atMost: limit).add(procedures)
  }

  /// Adds the procedures of an asynchronous sequence while there is room, like `add(_:atMost:)`
  /// with a plain one. The close of the queue also ends a wait for the sequence.
  ///
  /// ```swift
  /// try await queue.add(urls.map { Fetch($0) }, atMost: 8)
  /// ```
  ///
  /// - Throws: the error of the sequence, unless the queue is closed. Procedures added before go
  ///   on.
  public func add<Procedures: AsyncSequence>(
    _ procedures: Procedures, atMost limit: Int
  ) async throws(Procedures.Failure) where Procedures.Element: Procedure {
    try await ProcedureFeed(into: self, atMost: limit).add(procedures)
  }
}

internal import ProcedurePrimitives

/// Procedures of a queue by key: of each key at most one runs at a time, in the order in which they were added.
///
/// ```swift
/// let previews = ProcedureStore<Document.ID>(on: queue)
/// previews.add(Preview(document), for: document.id, policy: .cancelPrevious)   // the latest wins
///
/// let saves = ProcedureStore<Document.ID>(on: queue)
/// saves.add(Save(document), for: document.id, policy: .inOrder)                // one after another
///
/// let images = ProcedureStore<URL>(on: queue)
/// let image = try await images.value(for: url) { LoadImage(url) }               // one for all who ask meanwhile
/// ```
///
/// It does for procedures the same as `TaskStore` for tasks. A procedure waits until all earlier ones of its key have
/// finished, their DidFinish observers included. So all work of an older one, also of a cancelled one, comes before the
/// newer one starts. Procedures of different keys run side by side, as the queue has slots. Several stores know nothing
/// of each other; to exclude others across queues see `MutuallyExclusive`.
///
/// The wait takes no slot. It is order only, whatever becomes of the older one, and no part of `dependencies`.
///
/// ## Cancellation
/// When the store is released, its procedures are cancelled. A procedure does not keep the store alive. One that is
/// cancelled and does not finish keeps the newer ones of its key waiting.
///
/// ## Memory
/// A key whose procedures have finished takes no memory.
///
/// ## Thread safety
/// Everything may be called from any thread, also from the procedures. No lock is held while keys are compared, hashed
/// or released.
public final class ProcedureStore<Key: Hashable & Sendable>: Sendable {
  /// How a new procedure treats the others under the same key.
  public enum Policy: Sendable {
    /// They are cancelled; it starts when they have finished.
    case cancelPrevious
    /// It starts when they have finished.
    case inOrder
  }

  private final class Line: KeyedBacklog, @unchecked Sendable {
    private let key: Key

    init(_ key: Key) {
      self.key = key
      super.init(hash: key.hashValue)
    }

    // All entries of a table are of one store.
    override func hasKey(of other: KeyTable.Entry) -> Bool {
      unsafe unsafeDowncast(other, to: Line.self).key == key
    }
  }

  /// The queue to which it adds procedures. The store keeps it.
  public let queue: ProcedureQueue

  private let table = KeyTable()

  /// Makes an empty store.
  public init(on queue: ProcedureQueue) {
    self.queue = queue
  }

  deinit {
    cancelAll()
  }

  /// Adds a procedure to the queue, behind all unfinished ones of `key`.
  ///
  /// With `.cancelPrevious` those read cancelled when it returns, and the cancel of none is delivered before all do.
  ///
  /// - Parameters:
  ///   - procedure: on no queue yet.
  ///   - key: what to find it by.
  ///   - policy: what becomes of those under the same key.
  /// - Returns: false if the queue is closed; see `ProcedureQueue.add(_:)`.
  @discardableResult
  public func add(_ procedure: Procedure, for key: Key, policy: Policy) -> Bool {
    // 1. In line before it is on the queue: a later one stands behind it.
    let (place, previous) = table.withEntry(of: Line(key)) {
      entry -> (LinePlace.Content, [Procedure]) in
      let line = KeyedBacklog.of(entry)
      let previous = policy == .cancelPrevious ? line.all : []
      return (append(KeyedBacklog.Member(procedure: procedure, audience: nil), to: line), previous)
    }
    // 2. It waits before the others are cancelled, so that none of them has to make room for it.
    takePlace(place, procedure)
    cancel(previous)
    return queue.add(procedure)
  }

  /// Called with the lock of the table held.
  private func append(
    _ member: KeyedBacklog.Member, to line: KeyedBacklog
  ) -> LinePlace.Content {
    LinePlace.Content(table: table, line: line, key: line.append(member))
  }

  /// The procedure, which is not on the queue yet, waits for the one before it in line.
  private func takePlace(_ place: LinePlace.Content, _ procedure: Procedure) {
    procedure.withCore { core in core.attachments.with(LinePlace.self) { $0.content = place } }
    if let dependency = place.dependency() { procedure.add(dependency) }
  }

  // MARK: Joining

  /// Returns the procedure of `key` that is under way, or adds one: in one step, whoever else joins at this moment.
  ///
  /// ```swift
  /// let images = ProcedureStore<URL>(on: queue)
  /// let load = images.join(url, until: cell.token) { LoadImage(url) }   // one LoadImage for all cells of that URL
  /// ```
  ///
  /// The caller wants the procedure until `token` is cancelled. The last caller that leaves cancels the procedure, with
  /// the reason of its token, before the `cancel()` of that token returns. To wait for the output use `value(for:_:)`;
  /// if another procedure waits for it, pass the token of that one:
  ///
  /// ```swift
  /// resize.injectResult(from: images.join(url, until: resize.cancellationToken) { LoadImage(url) })
  /// ```
  ///
  /// You join the procedure that was added last under `key`, if it came by `join` or `value(for:_:)`, is a `Shared`,
  /// has not finished and was not cancelled. Otherwise the store adds the procedure that `make` returns, behind all
  /// unfinished ones of `key`: after a cancelled load the next one starts when that has finished. All who joined have
  /// the output, or the errors, of the same procedure; the store keeps neither.
  ///
  /// If `token` was cancelled before and nobody else wants the procedure, it is cancelled, and finishes without
  /// executing.
  ///
  /// - Parameters:
  ///   - key: what to find it by.
  ///   - token: cancelled when the caller does not want it any more; `.never` to want it in any case.
  ///   - make: makes the procedure, on this thread, with no lock held. Several callers at one moment may each make one:
  ///     the store adds one of these, and releases the others.
  /// - Returns: the procedure. If the queue is closed it was cancelled; see `ProcedureQueue.add(_:)`.
  @discardableResult
  public func join<Shared: Procedure>(
    _ key: Key, until token: CancellationToken, _ make: () throws -> Shared
  ) rethrows -> Shared {
    var (made, left): (KeyedBacklog.Member?, Shared?) = (nil, nil)
    while true {
      // 1. The one that is there; or else the new one, in line before anybody else can add one.
      let (found, place) = table.withEntry(of: Line(key)) {
        [made, left] entry -> (KeyedBacklog.Member?, LinePlace.Content?) in
        let line = KeyedBacklog.of(entry)
        if let last = line.last, last.isJoinable(as: Shared.self), last.procedure !== left {
          return (last, nil)
        }
        return (made, made.map { append($0, to: line) })
      }
      guard let found, let audience = found.audience, let shared = found.procedure as? Shared
      else {
        // 2. There is none. The new one is wanted before others find it, so that no other is the last to leave.
        let audience = SharedCancellation()
        made = KeyedBacklog.Member(procedure: try make(), audience: audience)
        made?.procedure.cancel(when: audience.token)
        audience.join(until: token)
        continue
      }
      if let place {
        takePlace(place, shared)
        queue.add(shared)
        return shared
      }
      // 3. The last may have left it since: then it is about to be cancelled, and another one takes its place.
      if audience.join(until: token) { return shared }
      left = shared
    }
  }

  /// Waits for the output of the procedure of `key` that is under way, or adds one.
  ///
  /// ```swift
  /// let images = ProcedureStore<URL>(on: queue)
  /// let image = try await images.value(for: url) { LoadImage(url) }   // one download for all who ask now
  /// ```
  ///
  /// Joins as `join(_:until:_:)` does, until the task is cancelled. That ends the wait, and the task has left before
  /// `Task.cancel()` returns: the last one who leaves cancels the procedure. In a task that is cancelled already `make`
  /// is not called.
  ///
  /// - Parameters:
  ///   - key: what to find it by.
  ///   - make: makes the procedure. See `join(_:until:_:)`.
  /// - Throws: as `OutputProcedure.value`: the error of the procedure, for all who wait; `CancellationError` if the
  ///   task was cancelled.
  public func value<Shared: OutputProcedure>(
    for key: Key, _ make: () throws -> Shared
  ) async throws -> Shared.Output {
    try Task.checkCancellation()
    let interest = CancellationTokenSource()
    // However the wait ends.
    defer { interest.cancel() }
    return try await withTaskCancellationHandler {
      let shared = try join(key, until: interest.token, make)
      try await shared.outcome(waitingIn: "value(for:_:)").get()
      return try shared.requireOutput()
    } onCancel: {
      interest.cancel(.taskCancelled)
    }
  }

  // MARK: Looking and cancelling

  /// The procedure that was added last under `key`, unless it has finished: for others to depend on.
  public func latest(_ key: Key) -> Procedure? {
    withLine(key) { $0.last?.procedure }
  }

  /// Cancels the procedures under `key`.
  public func cancel(_ key: Key) {
    cancel(withLine(key) { $0.all })
  }

  /// Cancels all procedures. The store may be used again.
  public func cancelAll() {
    cancel(table.map { KeyedBacklog.of($0).all }.flatMap { $0 })
  }

  /// How many procedures have not finished, under whatever keys. O(keys).
  public var count: Int { table.map { KeyedBacklog.of($0).count }.reduce(0, +) }

  /// How many procedures under `key` have not finished.
  public func count(_ key: Key) -> Int {
    withLine(key) { $0.count }
  }

  private func withLine<Result: Sendable>(_ key: Key, _ body: (KeyedBacklog) -> Result) -> Result {
    table.withEntry(of: Line(key)) { body(KeyedBacklog.of($0)) }
  }

  private func cancel(_ procedures: [Procedure]) {
    if !procedures.isEmpty { Procedure.cancel(procedures, errors: [], reason: .requested) }
  }
}

extension KeyedBacklog.Member {
  /// Whether somebody may still join it.
  fileprivate func isJoinable<Shared: Procedure>(as type: Shared.Type) -> Bool {
    audience != nil && !procedure.isCancelled && !procedure.isFinished && procedure is Shared
  }
}

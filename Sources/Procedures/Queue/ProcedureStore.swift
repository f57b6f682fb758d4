internal import ProcedurePrimitives

/// Procedures of a queue by key. For each key at most one runs at a time, in the order in which
/// they were added.
///
/// ```swift
/// let previews = ProcedureStore<Document.ID>(on: queue)
/// // The latest wins.
/// previews.add(Preview(document), for: document.id, policy: .cancelPrevious)
///
/// let saves = ProcedureStore<Document.ID>(on: queue)
/// // One after another.
/// saves.add(Save(document), for: document.id, policy: .inOrder)
///
/// let images = ProcedureStore<URL>(on: queue)
/// // One load for all concurrent callers.
/// let image = try await images.value(for: url) { LoadImage(url) }
/// ```
///
/// It is for procedures what `TaskStore` is for tasks. A procedure waits until all earlier
/// procedures of its key have finished, including their DidFinish observers. So all work of an
/// older procedure, even of a cancelled one, ends before a newer one starts. Procedures of
/// different keys run concurrently, if the queue has slots. Stores are independent of each other;
/// to exclude procedures across queues use `MutuallyExclusive`.
///
/// The wait takes no slot. It is about order only: it does not matter how the older procedure ends,
/// and `dependencies` does not include it.
///
/// ## Cancellation
/// When the store is released, its procedures are cancelled. A procedure does not retain the store.
/// A cancelled procedure that does not finish keeps the newer ones of its key waiting.
///
/// ## Memory
/// A key whose procedures have finished takes no memory.
///
/// ## Thread safety
/// You may call everything on any thread, even in the procedures. No lock is held while keys are
/// compared, hashed or released.
public final class ProcedureStore<Key: Hashable & Sendable>: Sendable {
  /// The effect of a new procedure on earlier ones of the same key.
  public enum Policy: Sendable {
    /// They are cancelled, and the new one starts when they have finished.
    case cancelPrevious
    /// The new one starts when they have finished.
    case inOrder
  }

  private final class Line: KeyedBacklog, @unchecked Sendable {
    private let key: Key

    init(_ key: Key) {
      self.key = key
      super.init(hash: key.hashValue)
    }

    // All entries of a table are lines of one store, so the cast is safe.
    override func hasKey(of other: KeyTable.Entry) -> Bool {
      unsafe unsafeDowncast(other, to: Line.self).key == key
    }
  }

  /// The queue to which it adds procedures. The store retains it.
  public let queue: ProcedureQueue

  private let table = KeyTable()

  /// Makes an empty store.
  public init(on queue: ProcedureQueue) {
    self.queue = queue
  }

  deinit {
    cancelAll()
  }

  /// Adds a procedure to the queue, after all unfinished ones of `key`.
  ///
  /// With `.cancelPrevious` all earlier ones are marked before any cancel is delivered, and read
  /// cancelled when the call returns.
  ///
  /// - Parameters:
  ///   - procedure: a procedure that is on no queue yet.
  ///   - key: the key of the procedure.
  ///   - policy: the effect on earlier procedures of the same key.
  /// - Returns: false if the queue is closed; see `ProcedureQueue.add(_:)`.
  @discardableResult
  public func add(_ procedure: Procedure, for key: Key, policy: Policy) -> Bool {
    // 1. Append it to the line before it is on the queue, so that a later one is behind it.
    let (place, previous) = table.withEntry(of: Line(key)) {
      entry -> (LinePlace.Content, [Procedure]) in
      let line = KeyedBacklog.of(entry)
      let previous = policy == .cancelPrevious ? line.all : []
      return (append(KeyedBacklog.Member(procedure: procedure, audience: nil), to: line), previous)
    }
    // 2. Make it wait for its predecessor before the others are cancelled and leave the line.
    takePlace(place, procedure)
    cancel(previous)
    return queue.add(procedure)
  }

  /// Called with the table's lock held.
  private func append(
    _ member: KeyedBacklog.Member, to line: KeyedBacklog
  ) -> LinePlace.Content {
    LinePlace.Content(table: table, line: line, key: line.append(member))
  }

  /// Makes the procedure, which is not on the queue yet, wait for its predecessor in the line.
  private func takePlace(_ place: LinePlace.Content, _ procedure: Procedure) {
    procedure.withCore { core in core.attachments.with(LinePlace.self) { $0.content = place } }
    if let dependency = place.dependency() { procedure.add(dependency) }
  }

  // MARK: Joining

  /// Returns the unfinished procedure of `key`, or adds one. Concurrent callers receive the same
  /// procedure.
  ///
  /// ```swift
  /// let images = ProcedureStore<URL>(on: queue)
  /// // One load for all cells of that URL.
  /// let load = images.join(url, until: cell.token) { LoadImage(url) }
  /// ```
  ///
  /// The caller wants the procedure until `token` is cancelled. When the tokens of all callers are
  /// cancelled, the last one cancels the procedure, with its reason and before its `cancel()`
  /// returns. To wait for the output use `value(for:_:)`; if another procedure waits for it, pass
  /// that procedure's token:
  ///
  /// ```swift
  /// let load = images.join(url, until: resize.cancellationToken) { LoadImage(url) }
  /// resize.injectResult(from: load)
  /// ```
  ///
  /// You join the last procedure of `key`, if `join` or `value(for:_:)` added it, it is a `Shared`,
  /// and it was neither cancelled nor has finished. Otherwise the store adds the procedure that
  /// `make` returns, after all unfinished ones of `key`, so it starts once a cancelled load has
  /// finished. All callers share its output or its errors; the store keeps neither.
  ///
  /// If `token` was cancelled before and no other caller wants the procedure, it is cancelled, and
  /// finishes without executing.
  ///
  /// - Parameters:
  ///   - key: the key of the procedure.
  ///   - token: cancelled when the caller does not want the procedure any more; `.never` to want it
  ///     in any case.
  ///   - make: makes the procedure, on this thread, with no lock held. Concurrent callers may each
  ///     make one: the store adds one of them, and the others are released.
  /// - Returns: the procedure, which is cancelled if the queue is closed; see
  ///   `ProcedureQueue.add(_:)`.
  @discardableResult
  public func join<Shared: Procedure>(
    _ key: Key, until token: CancellationToken, _ make: () throws -> Shared
  ) rethrows -> Shared {
    var (made, left): (KeyedBacklog.Member?, Shared?) = (nil, nil)
    while true {
      // 1. Find the last procedure of the key, or append the new one to the line, under one lock.
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
        // 2. There is none: make one, without a lock. This caller joins before others find it, so
        //    that their leaving cannot cancel it.
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
      // 3. Join it. If its last caller has left since, it is about to be cancelled: make another
      //    one.
      if audience.join(until: token) { return shared }
      left = shared
    }
  }

  /// Waits for the output of the unfinished procedure of `key`, or adds one.
  ///
  /// ```swift
  /// let images = ProcedureStore<URL>(on: queue)
  /// // One load for all concurrent callers.
  /// let image = try await images.value(for: url) { LoadImage(url) }
  /// ```
  ///
  /// The task joins as with `join(_:until:_:)`, until it is cancelled. That ends the wait, and
  /// cancels the procedure before `Task.cancel()` returns if no other caller wants it. If the task
  /// is already cancelled, `make` is not called.
  ///
  /// - Parameters:
  ///   - key: the key of the procedure.
  ///   - make: makes the procedure. See `join(_:until:_:)`.
  /// - Throws: the same errors as `OutputProcedure.value`: the error of the procedure, for all
  ///   callers; `CancellationError` if the task was cancelled.
  public func value<Shared: OutputProcedure>(
    for key: Key, _ make: () throws -> Shared
  ) async throws -> Shared.Output {
    try Task.checkCancellation()
    let interest = CancellationTokenSource()
    // Leave after a success and after an error.
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

  /// The procedure that was added last under `key`, as a dependency of others; nil if it has
  /// finished.
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

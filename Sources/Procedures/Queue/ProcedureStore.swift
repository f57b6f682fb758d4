internal import ProcedurePrimitives

/// Procedures of a queue by key: of each key at most one runs at a time, in the order in which they were added.
///
/// ```swift
/// let previews = ProcedureStore<Document.ID>(on: queue)
/// previews.add(Preview(document), for: document.id, policy: .cancelPrevious)   // the latest wins
///
/// let saves = ProcedureStore<Document.ID>(on: queue)
/// saves.add(Save(document), for: document.id, policy: .inOrder)                // one after another
/// ```
///
/// It does for procedures the same as `TaskStore` for tasks. A procedure waits until all earlier ones of its key have
/// finished, their DidFinish observers included. So all work of an older one, also of a cancelled one, comes before the newer one
/// starts. Procedures of different keys run side by side, as the queue has slots. Several stores know nothing of
/// each other; to exclude others across queues see `MutuallyExclusive`.
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

  private final class Line: ProcedureLine, @unchecked Sendable {
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
      let line = ProcedureLine.of(entry)
      let previous = policy == .cancelPrevious ? line.all : []
      let place = LinePlace.Content(table: table, line: line, key: line.append(procedure))
      return (place, previous)
    }
    procedure.read { core in core.attachments.with(LinePlace.self) { $0.content = place } }
    // 2. It waits before the others are cancelled, so that none of them has to make room for it.
    if let dependency = place.dependency() { procedure.add(dependency) }
    cancel(previous)
    return queue.add(procedure)
  }

  /// The procedure that was added last under `key`, unless it has finished: for others to depend on.
  public func latest(_ key: Key) -> Procedure? {
    withLine(key) { $0.last }
  }

  /// Cancels the procedures under `key`.
  public func cancel(_ key: Key) {
    cancel(withLine(key) { $0.all })
  }

  /// Cancels all procedures. The store may be used again.
  public func cancelAll() {
    cancel(table.map { ProcedureLine.of($0).all }.flatMap { $0 })
  }

  /// How many procedures have not finished, under whatever keys. O(keys).
  public var count: Int { table.map { ProcedureLine.of($0).count }.reduce(0, +) }

  /// How many procedures under `key` have not finished.
  public func count(_ key: Key) -> Int {
    withLine(key) { $0.count }
  }

  private func withLine<Result: Sendable>(_ key: Key, _ body: (ProcedureLine) -> Result) -> Result {
    table.withEntry(of: Line(key)) { body(ProcedureLine.of($0)) }
  }

  private func cancel(_ procedures: [Procedure]) {
    if !procedures.isEmpty { Procedure.cancel(procedures, errors: [], reason: .requested) }
  }
}

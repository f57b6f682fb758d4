internal import ProcedurePrimitives

extension ProcedureQueue {
  /// Adds a procedure. It can be added once, ever, to a queue or a group.
  ///
  /// Returns at once; adding one again is a programmer error, and traps. A queue that was closed
  /// refuses it: it is cancelled with `ProcedureError.Code.queueClosed`, and finishes.
  ///
  /// - Returns: whether it was accepted.
  @discardableResult
  public func add(_ procedure: Procedure) -> Bool {
    list.admit(procedure)
  }

  /// Adds procedures, in order. Each can be added once, ever, to a queue or a group.
  ///
  /// None of them starts before all have been added, so that the most urgent one is the first. A delegate receives
  /// the will-add events of all, and then the did-add events.
  public func add(_ procedures: Procedure...) {
    list.admit(procedures)
  }

  /// Adds the procedures of a sequence, in order: an array of some subclass, a set, a lazy map.
  ///
  /// None of them starts before all have been added, as with `add(_:)` of several.
  public func add<Procedures: Sequence>(_ procedures: Procedures)
  where Procedures.Element: Procedure {
    list.admit([Procedure](listing: procedures))
  }

  /// Adds a procedure that is cancelled when `token` is, as by `cancel(when:)`; the token is left when it finishes.
  ///
  /// - Returns: whether it was accepted; see `add(_:)`.
  @discardableResult
  public func add(_ procedure: Procedure, cancelledBy token: CancellationToken) -> Bool {
    procedure.cancel(when: token)
    return list.admit(procedure)
  }

  /// Adds a procedure that runs a closure.
  ///
  /// ```swift
  /// queue.add { try compress(file) }
  /// ```
  ///
  /// - Parameter block: run once, on a worker; an error that it throws is the procedure's. If nothing observes it, depends
  ///   on it or reads its errors, that is reported to `diagnosticsHandler`, or in debug builds to standard error.
  /// - Returns: the procedure: to wait for it, or to cancel it.
  @discardableResult
  public func add(_ block: @escaping @Sendable () throws -> Void) -> BlockProcedure {
    let procedure = BlockProcedure(block)
    procedure.noteAddedAsClosure()
    list.admit(procedure)
    return procedure
  }

  /// Adds a procedure that runs a closure on the main actor.
  ///
  /// ```swift
  /// queue.add { @MainActor in label.text = "done" }
  /// ```
  ///
  /// For closures that are `@MainActor`: written so, or a method of a type on the main actor. Give an
  /// `async` closure to a `MainActorProcedure`.
  ///
  /// - Parameter block: run once; an error that it throws is the procedure's.
  /// - Returns: the procedure: to wait for it, or to cancel it.
  @discardableResult
  public func add(
    _ block: @escaping @MainActor @Sendable () throws -> Void
  ) -> MainActorProcedure {
    let procedure = MainActorProcedure(block)
    procedure.noteAddedAsClosure()
    list.admit(procedure)
    return procedure
  }

  /// Adds a procedure and waits until it has finished. Cancelling the task cancels the procedure.
  ///
  /// It waits for the finish also then: nothing of the procedure runs after this has returned. In a task that is
  /// cancelled already, the procedure is cancelled before it is added, and does not execute.
  public func run(_ procedure: Procedure) async -> ProcedureOutcome {
    await run(procedure, in: "run(_:)")
  }

  private func run(_ procedure: Procedure, in name: String) async -> ProcedureOutcome {
    let body = BodyTask.current
    return await withTaskCancellationHandler {
      // Not before: a cancel that has come already is the procedure's before any worker can take it.
      list.admit(procedure)
      // A task of its own, since the wait must outlast the cancel of this one.
      return await Task { await procedure.outcome(waitingIn: name, as: body) }.value
    } onCancel: {
      procedure.cancel(because: .taskCancelled)
    }
  }

  /// Adds a procedure and waits for its output. Cancelling the task cancels the procedure.
  ///
  /// ```swift
  /// let count = try await queue.value(of: ResultProcedure { try countWords(in: file) })
  /// ```
  ///
  /// It waits for the finish also then: nothing of the procedure runs after this has returned. In a task that is
  /// cancelled already, the procedure does not execute.
  ///
  /// - Throws: as `value`.
  public func value<Output: Sendable>(
    of procedure: some OutputProcedure<Output>
  ) async throws -> Output {
    try await run(procedure, in: "value(of:)").get()
    return try procedure.requireOutput()
  }

  // MARK: Barriers

  /// Adds a procedure that runs alone: after all that was added before has finished, and before
  /// anything that is added later starts.
  ///
  /// ```swift
  /// queue.add(reads)
  /// queue.add(barrier: write)
  /// queue.add(moreReads)   // these see all writes
  /// ```
  ///
  /// Children of groups, and prerequisites of conditions, count with their group or procedure. It
  /// is order, not a dependency: it does not matter how earlier procedures end. A barrier that is
  /// cancelled finishes without executing; procedures that were added after it no longer wait for
  /// it, but still for earlier barriers.
  ///
  /// O(1) for each procedure that is added. The first barrier of a queue is O(count).
  ///
  /// - Returns: whether it was accepted; see `add(_:)`.
  @discardableResult
  public func add(barrier: Procedure) -> Bool {
    list.barriers?.begin(in: list)
    return list.admit(barrier, as: .barrier)
  }

  /// Adds a barrier that runs a closure. See `add(barrier:)`.
  ///
  /// ```swift
  /// queue.add(barrier: { try cache.write() })
  /// ```
  ///
  /// - Returns: the procedure: to wait for it, or to cancel it.
  @discardableResult @_disfavoredOverload  // A trailing closure has no label: that is `add { … }`.
  public func add(barrier block: @escaping @Sendable () throws -> Void) -> BlockProcedure {
    let procedure = BlockProcedure(block)
    add(barrier: procedure)
    return procedure
  }
}

// An `async` closure where a synchronous one is wanted. Disfavoured, so that the compiler still says what it
// finds in any other closure.
extension ProcedureQueue {
  /// Takes a closure that is not `async`.
  @available(
    *, unavailable,
    message: "write add(AsyncProcedure { … }), or add(MainActorProcedure { … }) for the main actor"
  )
  @_disfavoredOverload @discardableResult
  public func add(
    _ block: @escaping @MainActor @Sendable () async throws -> Void
  ) -> BlockProcedure { unavailableName() }
}

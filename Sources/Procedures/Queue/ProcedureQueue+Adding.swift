internal import ProcedurePrimitives

extension ProcedureQueue {
  /// Adds a procedure. A procedure can be added only once, to a queue or a group.
  ///
  /// It returns at once. Adding a procedure again is a programmer error, and traps. A closed queue
  /// refuses it: it is cancelled with `ProcedureError.Code.queueClosed`, and finishes.
  ///
  /// - Returns: whether it was accepted.
  @discardableResult
  public func add(_ procedure: Procedure) -> Bool {
    list.admit(procedure)
  }

  /// Adds procedures, in order. Each can be added only once, to a queue or a group.
  ///
  /// None of them starts before all have been added, so the most urgent one starts first. A
  /// delegate receives the will-add events of all, and then the did-add events.
  public func add(_ procedures: Procedure...) {
    list.admit(procedures)
  }

  /// Adds the procedures of a sequence, in order, such as an array of a subclass, a set or a lazy
  /// map.
  ///
  /// None of them starts before all have been added.
  public func add<Procedures: Sequence>(_ procedures: Procedures)
  where Procedures.Element: Procedure {
    list.admit([Procedure](listing: procedures))
  }

  /// Adds a procedure that is cancelled when `token` is, as with `cancel(when:)`. It leaves the
  /// token when it has finished.
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
  /// - Parameter block: runs once, on a worker. The procedure fails with an error that it throws.
  ///   If nothing observes the procedure, depends on it or reads its errors, the error is reported
  ///   to `diagnosticsHandler`, or in debug builds on standard error.
  /// - Returns: the procedure, for example to wait for it or to cancel it.
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
  /// The closure is `@MainActor`, by annotation or as a method of a type on the main actor. For an
  /// `async` closure add a `MainActorProcedure`.
  ///
  /// - Parameter block: runs once. The procedure fails with an error that it throws.
  /// - Returns: the procedure, for example to wait for it or to cancel it.
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
  /// Even then it waits for the finish: nothing of the procedure runs after the call has returned.
  /// If the task is already cancelled, the procedure does not execute.
  public func run(_ procedure: Procedure) async -> ProcedureOutcome {
    await run(procedure, in: "run(_:)")
  }

  private func run(_ procedure: Procedure, in name: String) async -> ProcedureOutcome {
    let body = BodyTask.current
    return await withTaskCancellationHandler {
      // 1. Add the procedure only here: if this task was cancelled before, the procedure is, too.
      list.admit(procedure)
      // 2. Wait in another task, which this one's cancel does not end.
      return await Task(executorPreference: HelperExecutor.current) {
        await procedure.outcome(waitingIn: name, as: body)
      }.value
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
  /// Even then it waits for the finish: nothing of the procedure runs after the call has returned.
  /// If the task is already cancelled, the procedure does not execute.
  ///
  /// - Throws: the same errors as `value`.
  public func value<Output: Sendable>(
    of procedure: some OutputProcedure<Output>
  ) async throws -> Output {
    try await run(procedure, in: "value(of:)").get()
    return try procedure.requireOutput()
  }

  // MARK: Barriers

  /// Adds a procedure that runs alone: after all procedures added before have finished, and before
  /// any added later start.
  ///
  /// ```swift
  /// queue.add(reads)
  /// queue.add(barrier: write)
  /// queue.add(moreReads)   // these see all writes
  /// ```
  ///
  /// Children of groups, and prerequisites of conditions, count with their group or procedure. A
  /// barrier is about order, and is not a dependency: it does not matter how earlier procedures
  /// end. A barrier that is cancelled finishes without executing; procedures added after it no
  /// longer wait for it, but still for earlier barriers.
  ///
  /// Each added procedure costs O(1); the first barrier of a queue costs O(count).
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
  /// - Returns: the procedure, for example to wait for it or to cancel it.
  @discardableResult @_disfavoredOverload  // `add { … }` must not mean this one.
  public func add(barrier block: @escaping @Sendable () throws -> Void) -> BlockProcedure {
    let procedure = BlockProcedure(block)
    add(barrier: procedure)
    return procedure
  }
}

// This method catches an `async` closure where a synchronous one is required. It is disfavoured, so
// that the compiler still reports the errors in any other closure.
extension ProcedureQueue {
  /// Unavailable: the closure must not be `async`.
  @available(
    *, unavailable,
    message: "write add(AsyncProcedure { … }), or add(MainActorProcedure { … }) for the main actor"
  )
  @_disfavoredOverload @discardableResult
  public func add(
    _ block: @escaping @MainActor @Sendable () async throws -> Void
  ) -> BlockProcedure { unavailableName() }
}

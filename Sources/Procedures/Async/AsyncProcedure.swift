/// Runs an `async` closure as a task, and finishes when it ends.
///
/// ```swift
/// queue.add(AsyncProcedure { try await upload(file) })
/// queue.add(AsyncProcedure(.callback) { finish in upload(file) { error in finish(error) } })
/// ```
///
/// It is an `AsyncResultProcedure` without a value: see there.
nonisolated open class AsyncProcedure: AsyncResultProcedure<Void>, @unchecked Sendable {
  /// Makes a procedure that runs `body` as a task, on the actor that it is written on, if any.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - body: the procedure fails with its error.
  public override init(
    name: String? = nil,
    @_inheritActorContext @_implicitSelfCapture
    _ body: @escaping @isolated(any) @Sendable () async throws -> Void
  ) {
    super.init(name: name, .action(body), isolation: body.isolation)
  }

  /// Makes a procedure from a function whose type does not state its isolation, such as a
  /// `nonisolated(nonsending)` one.
  @_disfavoredOverload
  public override init<Failure: Error>(
    name: String? = nil, _ body: @escaping @Sendable () async throws(Failure) -> Void
  ) {
    super.init(name: name, .action { try await body() })
  }

  /// Makes a procedure that runs `body`, which is handed the procedure, as a task.
  public override init(
    name: String? = nil,
    @_inheritActorContext @_implicitSelfCapture
    _ body:
      @escaping @isolated(any) @Sendable (_ procedure: AsyncResultProcedure<Void>) async throws ->
      Void
  ) {
    super.init(name: name, body)
  }

  /// Makes a procedure that passes itself to a function whose type does not state its isolation.
  @_disfavoredOverload
  public override init<Failure: Error>(
    name: String? = nil,
    _ body:
      @escaping @Sendable (_ procedure: AsyncResultProcedure<Void>) async throws(Failure) -> Void
  ) {
    super.init(name: name, body)
  }

  /// Makes a procedure that starts something with a completion handler. See `AsyncResultProcedure`.
  public override init(
    name: String? = nil, _ form: FinishHandle<Void>.Form,
    _ start: @escaping @Sendable (_ finish: FinishHandle<Void>) throws -> Void
  ) {
    super.init(name: name, form, start)
  }
}

/// Runs a closure on the main actor, and finishes when it ends.
///
/// ```swift
/// let show = MainActorProcedure { label.text = "done" }
/// show.add(dependency: upload)
/// queue.add(upload, show)
/// ```
///
/// The closure may be `async`; while it is suspended the procedure holds its slot, and the main
/// actor is free. Only the closure runs on the main actor: overrides and observers run on the
/// queue's workers. For a value use `AsyncResultProcedure { @MainActor in … }`; to run procedures
/// entirely on the main queue, add them to `ProcedureQueue.main`.
nonisolated open class MainActorProcedure: AsyncResultProcedure<Void>, @unchecked Sendable {
  /// Makes a procedure that runs `body` on the main actor.
  public init(
    name: String? = nil,
    @_implicitSelfCapture _ body: @escaping @MainActor @Sendable () async throws -> Void
  ) {
    super.init(name: name, .action(body), isolation: MainActor.shared)
  }
}

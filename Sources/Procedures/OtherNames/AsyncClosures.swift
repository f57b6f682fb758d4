// Closures that are `async`, where one that is not is wanted: disfavoured, so that the compiler says what it
// finds in any other closure.

extension BlockProcedure {
  /// Takes a closure that is not `async`.
  @available(
    *, unavailable,
    message: "write AsyncProcedure { … }, or MainActorProcedure { … } for the main actor"
  )
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ block: @escaping @MainActor @Sendable () async throws -> Void
  ) { unavailableName() }

  /// Takes a closure that is not `async`.
  @available(*, unavailable, message: "write AsyncProcedure { procedure in … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ block: @escaping @Sendable (BlockProcedure) async throws -> Void
  ) { unavailableName() }
}

extension ResultProcedure {
  /// Takes a closure that is not `async`.
  @available(*, unavailable, message: "write AsyncResultProcedure { … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ block: @escaping @MainActor @Sendable () async throws -> Output
  ) { unavailableName() }

  /// Takes a closure that is not `async`.
  @available(*, unavailable, message: "write AsyncResultProcedure { procedure in … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ block: @escaping @Sendable (ResultProcedure) async throws -> Output
  ) { unavailableName() }
}

extension TransformProcedure {
  /// Takes a closure that is not `async`.
  @available(*, unavailable, message: "write AsyncTransformProcedure { input in … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ transform: @escaping @MainActor @Sendable (Input) async throws -> Output
  ) { unavailableName() }

  /// Takes a closure that is not `async`.
  @available(*, unavailable, message: "write AsyncTransformProcedure { procedure, input in … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil,
    _ transform: @escaping @Sendable (TransformProcedure, Input) async throws -> Output
  ) { unavailableName() }
}

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

internal import ProcedurePrimitives

/// A condition that calls a closure: true means satisfied, false means ignored, and a thrown error
/// means failed.
///
/// ```swift
/// upload.add(condition: BlockCondition { !files.isEmpty })
/// upload.add(condition: BlockCondition { procedure in procedure.dependencies.count < 3 })
/// ```
///
/// After false the procedure is cancelled without errors: it does not run, and that is no failure.
public struct BlockCondition: SynchronousCondition {
  private let block: @Sendable (Procedure) throws -> Bool

  /// Makes a condition from a closure that receives the procedure.
  public init(_ block: @escaping @Sendable (Procedure) throws -> Bool) {
    self.block = block
  }

  /// Makes a condition from a closure without arguments.
  public init(_ block: @escaping @Sendable () throws -> Bool) {
    self.block = { _ in try block() }
  }

  /// Calls the closure, in the procedure's turn.
  public func evaluate(_ procedure: Procedure) throws -> ConditionResult {
    try block(procedure) ? .satisfied : .ignored
  }
}

/// A `BlockCondition` for a closure that is awaited.
///
/// ```swift
/// upload.add(condition: AsyncCondition { await network.isReachable })
/// ```
public struct AsyncCondition: KnownCondition {
  private let block: @Sendable (Procedure) async throws -> Bool
  let runsOnMainActor: Bool

  /// Makes a condition from a closure that receives the procedure.
  public init(_ block: @escaping @isolated(any) @Sendable (Procedure) async throws -> Bool) {
    runsOnMainActor = MainActor.isIsolation(block.isolation)
    self.block = { try await block($0) }
  }

  /// Makes a condition from a function whose type does not state its isolation, such as a
  /// `nonisolated(nonsending)` one.
  @_disfavoredOverload
  public init<Failure: Error>(
    _ block: @escaping @Sendable (Procedure) async throws(Failure) -> Bool
  ) {
    runsOnMainActor = false
    self.block = block
  }

  /// Makes a condition from a closure without arguments.
  public init(_ block: @escaping @isolated(any) @Sendable () async throws -> Bool) {
    runsOnMainActor = MainActor.isIsolation(block.isolation)
    self.block = { _ in try await block() }
  }

  /// Makes a condition from a function without arguments whose type does not state its isolation.
  @_disfavoredOverload
  public init<Failure: Error>(_ block: @escaping @Sendable () async throws(Failure) -> Bool) {
    runsOnMainActor = false
    self.block = { _ in try await block() }
  }

  /// Awaits the closure, on the workers of the procedure's queue or on the closure's actor.
  public func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    try await block(procedure) ? .satisfied : .ignored
  }
}

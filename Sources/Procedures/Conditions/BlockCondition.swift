internal import ProcedurePrimitives

/// A condition that is a closure: true is satisfied, false is ignored, throwing is failing.
///
/// ```swift
/// upload.add(condition: BlockCondition { !files.isEmpty })
/// upload.add(condition: BlockCondition { procedure in procedure.dependencies.count < 3 })
/// ```
///
/// False means "do not run, and that is no failure": the procedure is cancelled without errors.
public struct BlockCondition: SynchronousCondition {
  private let block: @Sendable (Procedure) throws -> Bool

  /// A closure that looks at the procedure.
  public init(_ block: @escaping @Sendable (Procedure) throws -> Bool) {
    self.block = block
  }

  /// A closure that does not.
  public init(_ block: @escaping @Sendable () throws -> Bool) {
    self.block = { _ in try block() }
  }

  /// Calls the closure, in the procedure's turn.
  public func evaluate(_ procedure: Procedure) throws -> ConditionResult {
    try block(procedure) ? .satisfied : .ignored
  }
}

/// A condition that is a closure, and is awaited.
///
/// ```swift
/// upload.add(condition: AsyncCondition { await network.isReachable })
/// ```
public struct AsyncCondition: KnownCondition {
  private let block: @Sendable (Procedure) async throws -> Bool
  /// Whether the closure is isolated to the main actor.
  let runsOnMainActor: Bool

  /// A closure that looks at the procedure.
  public init(_ block: @escaping @isolated(any) @Sendable (Procedure) async throws -> Bool) {
    runsOnMainActor = MainActor.isIsolation(block.isolation)
    self.block = { try await block($0) }
  }

  /// The same for a function whose isolation is not in its type, such as a `nonisolated(nonsending)` one.
  @_disfavoredOverload
  public init<Failure: Error>(
    _ block: @escaping @Sendable (Procedure) async throws(Failure) -> Bool
  ) {
    runsOnMainActor = false
    self.block = block
  }

  /// A closure that does not.
  public init(_ block: @escaping @isolated(any) @Sendable () async throws -> Bool) {
    runsOnMainActor = MainActor.isIsolation(block.isolation)
    self.block = { _ in try await block() }
  }

  /// The same of a function whose isolation is not in its type.
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

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
public struct AsyncCondition: Condition {
  private let block: @Sendable (Procedure) async throws -> Bool

  /// A closure that looks at the procedure.
  public init(_ block: @escaping @Sendable (Procedure) async throws -> Bool) {
    self.block = block
  }

  /// A closure that does not.
  public init(_ block: @escaping @Sendable () async throws -> Bool) {
    self.block = { _ in try await block() }
  }

  /// Awaits the closure, on the workers of the procedure's queue.
  public func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    try await block(procedure) ? .satisfied : .ignored
  }
}

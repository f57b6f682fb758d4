internal import ProcedurePrimitives

/// Decides whether a procedure may run, when all it depends on has finished.
///
/// ```swift
/// struct IsOnline: Condition {
///   let network: Network
///   func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
///     await network.isReachable ? .satisfied : .failed(OfflineError())
///   }
/// }
/// upload.add(condition: IsOnline(network: network))
/// ```
///
/// Conditions of a procedure are evaluated in the order in which they were added, one at a time,
/// until one is not satisfied. One may be added to any number of procedures, and is then evaluated
/// for several at once. If a condition can answer at once, make it a `SynchronousCondition`.
///
/// ## Thread
/// On the workers of the procedure's queue. A suspended queue begins no evaluation, nor does a
/// group for its children before it executes. An evaluation takes no slot. While a condition is
/// awaited, observers and overrides of the procedure may be called.
///
/// ## Cancellation
/// A cancelled procedure does not wait for an answer: the task that evaluates is cancelled, and what
/// it answers is ignored.
public protocol Condition: Sendable {
  /// Says whether `procedure` may run. Throwing an error is the same as failing with it.
  func evaluate(_ procedure: Procedure) async throws -> ConditionResult

  /// The same, for conditions that may know the answer at once. By default it awaits `evaluate`.
  func begin(_ procedure: Procedure) -> ConditionEvaluation

  /// Procedures that must finish before this is evaluated. By default none.
  ///
  /// Called once for each procedure, in its turn. Those that are on no queue yet are added to the
  /// queue of `procedure`, or to its group, and are cancelled when it is. They do not count as its
  /// dependencies: this condition judges how they ended.
  func prerequisites(of procedure: Procedure) -> [Procedure]

  /// The categories that a procedure with this condition acquires. By default none.
  ///
  /// Read once, when the condition is added, on that thread.
  var exclusions: [ExclusionCategory] { get }

  /// The categories, with how many procedures may hold each at once. By default one for each of
  /// `exclusions`.
  ///
  /// Read once, when the condition is added, on that thread.
  var exclusionLimits: [ExclusionLimit] { get }

  /// The name in errors and snapshots. By default the name of its type.
  ///
  /// Read when the condition is added, on that thread; by the conditions of which it is a part, when
  /// they need it for theirs.
  var name: String { get }
}

extension Condition {
  /// Awaits `evaluate`, in a task.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation {
    .asynchronous { try await evaluate(procedure) }
  }

  /// None.
  public func prerequisites(of procedure: Procedure) -> [Procedure] { [] }

  /// None.
  public var exclusions: [ExclusionCategory] { [] }

  /// One at a time, of each of `exclusions`.
  public var exclusionLimits: [ExclusionLimit] { exclusions.map { ExclusionLimit($0) } }

  /// The name of its type.
  public var name: String { typeName(Self.self) }
}

/// A condition that answers at once. No task is started for it.
///
/// ```swift
/// struct HasSpace: SynchronousCondition {
///   func evaluate(_ procedure: Procedure) throws -> ConditionResult {
///     try freeBytes() > 1_000_000 ? .satisfied : .ignored
///   }
/// }
/// ```
///
/// It is called in the procedure's turn: nothing else of that procedure is called meanwhile.
public protocol SynchronousCondition: Condition {
  /// Says whether `procedure` may run. It must not block for long: it keeps a worker busy.
  func evaluate(_ procedure: Procedure) throws -> ConditionResult
}

extension SynchronousCondition {
  /// Evaluates at once.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation {
    let evaluate: (Procedure) throws -> ConditionResult = evaluate
    do {
      return .answered(try evaluate(procedure))
    } catch {
      return .answered(.failed(error))
    }
  }
}

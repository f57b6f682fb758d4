internal import ProcedurePrimitives

/// Decides whether a procedure may run, once all of its dependencies have finished.
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
/// A procedure evaluates its conditions in the order in which they were added, one at a time, until
/// one is not satisfied. A condition may be added to any number of procedures, and may then be
/// evaluated for several at once. If it can answer at once, make it a `SynchronousCondition`.
///
/// ## Thread
/// Conditions are evaluated on the workers of the procedure's queue. A suspended queue begins no
/// evaluation, and neither does a group for its children before it executes. An evaluation takes no
/// slot. While a condition is awaited, observers and overrides of the procedure may be called.
///
/// ## Cancellation
/// A cancelled procedure does not wait for an answer: the evaluating task is cancelled, and its
/// answer is ignored.
public protocol Condition: Sendable {
  /// Returns whether `procedure` may run. A thrown error means `.failed` with that error.
  func evaluate(_ procedure: Procedure) async throws -> ConditionResult

  /// Begins the evaluation, for conditions that may know the answer at once. The default awaits
  /// `evaluate`.
  func begin(_ procedure: Procedure) -> ConditionEvaluation

  /// Returns procedures that must finish before this condition is evaluated. The default is none.
  ///
  /// It is called once for each procedure, in its turn. Returned procedures that are on no queue
  /// are added to the queue or group of `procedure`, and are cancelled when it is. They do not
  /// count as its dependencies: this condition judges how they ended.
  func prerequisites(of procedure: Procedure) -> [Procedure]

  /// The categories that a procedure with this condition acquires. The default is none.
  ///
  /// It is read once, by the thread that adds the condition.
  var exclusions: [ExclusionCategory] { get }

  /// The categories, with the number of procedures that may hold each at once. The default is one
  /// for each of `exclusions`.
  ///
  /// It is read once, by the thread that adds the condition.
  var exclusionLimits: [ExclusionLimit] { get }

  /// The name in errors and snapshots. The default is the name of its type.
  ///
  /// The thread that adds the condition reads it. A condition that contains this one reads it
  /// whenever its own name needs it.
  var name: String { get }
}

extension Condition {
  /// Awaits `evaluate`, in a task.
  public func begin(_ procedure: Procedure) -> ConditionEvaluation {
    .asynchronous { try await evaluate(procedure) }
  }

  /// The default is none.
  public func prerequisites(of procedure: Procedure) -> [Procedure] { [] }

  /// The default is none.
  public var exclusions: [ExclusionCategory] { [] }

  /// The default is one procedure at a time for each of `exclusions`.
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
/// It is called in the procedure's turn: no observer or override of that procedure is called
/// meanwhile.
public protocol SynchronousCondition: Condition {
  /// Returns whether `procedure` may run. It must not block for long, since it occupies a worker.
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

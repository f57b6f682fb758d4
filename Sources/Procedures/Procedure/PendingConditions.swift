internal import ProcedurePrimitives

/// The conditions of one procedure, as its turn sees them. Guarded by the procedure's lock.
protocol PendingConditions: AnyObject, Sendable {
  /// The condition that is evaluated now, or next; nil if none is left.
  var currentName: String? { get }

  /// Whether one of the conditions left to evaluate is on the main actor.
  var needsMainActor: Bool { get }

  /// The serial number of the awaited evaluation; nil if none is awaited.
  var awaitedSerial: UInt64? { get }

  /// The task of the awaited evaluation; nil if none is awaited.
  var awaitedTask: BodyTask? { get }

  /// Evaluates the conditions, in the procedure's turn and without its lock, until one must be
  /// waited for or is not satisfied.
  ///
  /// - Parameter list: the list of the calling worker, which will look for more there; nil if it
  ///   will look elsewhere.
  func evaluate(for procedure: Procedure, onWorkerOf list: ProcedureList?)

  /// Stops waiting for an answer.
  ///
  /// - Returns: the task to cancel when the lock has been released.
  func abandon() -> Task<Void, Never>?

  /// A dependency was added: all conditions are evaluated again when it has finished.
  func restart() -> AbandonedEvaluation
}

/// The conditions before a restart. Released without a lock, since they may hold the user's values.
struct AbandonedEvaluation: Sendable {
  let task: Task<Void, Never>?
  let answer: (any Sendable)?
}

/// A procedure that a condition brought, and that must finish before the condition is evaluated.
struct Prerequisite: Sendable {
  /// How the procedure waits for it. It is not among the dependencies.
  let link: Dependency
  /// Whether the framework put it on a queue for the condition.
  var isOurs = false
}

extension Procedure {
  final func evaluateConditions(onWorkerOf list: ProcedureList?) {
    peek { $0.requirements?.value.conditions }?.evaluate(for: self, onWorkerOf: list)
  }

  /// The procedure was cancelled: it no longer waits for its conditions.
  final func abandonConditions() {
    let (task, prerequisites) = withCore { core in
      (
        core.requirements?.value.conditions?.abandon(),
        core.requirements?.value.prerequisites ?? []
      )
    }
    task?.cancel()
    for prerequisite in prerequisites where prerequisite.isOurs {
      prerequisite.link.dependency.cancel()
    }
  }
}

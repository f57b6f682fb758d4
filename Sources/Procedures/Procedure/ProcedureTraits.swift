internal import ProcedurePrimitives

/// The traits that all procedures of a class share.
struct ProcedureTraits: OptionSet, Sendable {
  let rawValue: UInt8
  /// It is a `GroupProcedure`, and ends automatically when its children have.
  static let isGroup = ProcedureTraits(rawValue: 1)
  /// Its work is an `AsyncBody`.
  static let hasAsyncBody = ProcedureTraits(rawValue: 2)
  /// The property that comes with the protocol stores its input. Unknown for a class that may
  /// declare its own property in its place.
  static let keepsInput = ProcedureTraits(rawValue: 4)
  /// Likewise for its output.
  static let keepsOutput = ProcedureTraits(rawValue: 8)
  /// It is a group of whose children only the principal counts: earlier ones have failed.
  static let onlyPrincipalCounts = ProcedureTraits(rawValue: 16)
}

/// The phases of the work of a ready-made procedure.
enum WorkPhase: Sendable {
  /// It is about to be added to a queue or group. Entered on the thread that adds it.
  case queued
  /// It was cancelled, and its token has fired. Entered once, on the thread that cancels.
  case interrupted
  /// Its cancel is being delivered, before the override. Entered in its turn.
  case cancelled
  /// It has finished, executed or not, and releases its work. Entered in its last turn.
  case over
  /// It is a group that is being deallocated, and releases references to its children.
  case deallocated
}

/// The uses of a text that a class has of its own.
enum TextUse: Sendable {
  /// The name of a procedure that was given none.
  case name
  /// The initialiser to use for work that calls back later, of a class that ends with its closure.
  case callbackInitializer
}

/// The body of a procedure that runs as a task, as diagnostics see it. Called on any thread.
protocol AsyncBody: Procedure {
  /// The task of the body, while it runs.
  var bodyTask: BodyTask? { get }

  /// Whether that task is ready to continue, and no thread has come to it.
  var isStepDue: Bool { get }

  /// Whether the body will begin on the main actor, and has not.
  var awaitsMainActor: Bool { get }

  /// Whether the body runs on the main actor.
  var runsOnMainActor: Bool { get }
}

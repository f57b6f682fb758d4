internal import ProcedurePrimitives

/// The traits that all procedures of a class share.
struct ProcedureTraits: BitFlags {
  let rawValue: UInt8
  /// It is a `GroupProcedure`, and ends automatically when its children have.
  static let isGroup = ProcedureTraits(rawValue: 1)
  /// It is an `AsyncBody`.
  static let hasAsyncBody = ProcedureTraits(rawValue: 2)
  /// Its input is in the property that comes with the protocol. Not set for a class in which a user
  /// may declare that property.
  static let keepsInput = ProcedureTraits(rawValue: 4)
  /// Likewise for its output.
  static let keepsOutput = ProcedureTraits(rawValue: 8)
  /// It is a group of whose children only the principal says how far the work is: earlier ones have
  /// failed.
  static let onlyPrincipalCounts = ProcedureTraits(rawValue: 16)
  /// It is a group in which the success of one child cancels the others.
  static let firstSuccessCancelsOthers = ProcedureTraits(rawValue: 32)
}

/// The phases of the work of a procedure.
enum WorkPhase: Sendable {
  /// It is about to be added to a queue or group. Entered on the thread that adds it.
  case queued
  /// It was cancelled, and its token has fired. Entered once, on the thread that delivers the
  /// cancel, perhaps beside a turn.
  case interrupted
  /// The same cancel has reached its turn, and comes before the override.
  case cancelled
  /// It has finished, executed or not, and releases its work. Entered when it retires, on its
  /// worker.
  case over
  /// It is a group that is being deallocated, and releases references to its children.
  case deallocated
}

/// The uses of a text that a class has of its own.
enum TextUse: Sendable {
  /// The name of a procedure that was given none.
  case name
  /// The initialiser that a report of a late finish recommends, for work that calls back later. Nil
  /// for no such report. Only classes that finish when their closure returns have one.
  case callbackInitializer
}

/// A procedure whose body runs as a task, as cancelling, a simulation and diagnostics see it. Called
/// on any thread.
protocol AsyncBody: Procedure {
  /// The task of the body, while it runs.
  var bodyTask: BodyTask? { get }

  /// Whether that task is ready to continue, and no thread has come to it.
  var isStepDue: Bool { get }

  /// Whether it has executed, and its body has not begun on the main actor.
  var awaitsMainActor: Bool { get }

  /// Whether the body runs on the main actor.
  var runsOnMainActor: Bool { get }
}

/// A pause of a group between two attempts.
protocol PauseOfAttempts: Procedure {
  /// Whether it needs no slot of a group that has given up its own. Written before it is added.
  var needsNoSlot: Bool { get set }
}

extension Procedure {
  /// Whether it is a pause for which its group gives up its slot.
  final var isRest: Bool { (self as? any PauseOfAttempts)?.needsNoSlot ?? false }
}

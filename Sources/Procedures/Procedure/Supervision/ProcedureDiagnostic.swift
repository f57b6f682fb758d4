internal import ProcedurePrimitives

/// A probable mistake in the use of procedures. It reads as a sentence.
///
/// It is a struct with a code, so that later versions can report more without breaking a `switch`.
public struct ProcedureDiagnostic: Equatable, Sendable, CustomStringConvertible {
  /// The kind of the report.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code.
    public let description: String

    /// `finish` was called at a moment when it has no effect.
    public static let finishRefused = Code(description: "finishRefused")
    /// A procedure was added to a queue that is closed, or to a group that has finished.
    public static let additionRefused = Code(description: "additionRefused")
    /// `finish` was called on a ready-made procedure that had ended with its closure, or the
    /// closure threw after the procedure had been finished. The errors of the late call are lost.
    public static let finishTooLate = Code(description: "finishTooLate")
    /// A cancelled procedure has not finished within the queue's `cancellationGracePeriod`.
    public static let lingering = Code(description: "lingering")
    /// An observer has held an event back for longer than the queue's `waitReportDelay`.
    public static let eventHeld = Code(description: "eventHeld")
    /// An observer that is called on the main actor, or on a queue, has not returned for longer
    /// than the queue's `waitReportDelay`, usually because that thread is blocked.
    public static let observerAwaited = Code(description: "observerAwaited")
    /// A condition has not answered for longer than the queue's `waitReportDelay`.
    public static let conditionUnanswered = Code(description: "conditionUnanswered")
    /// A procedure has been ready, or has had something else to do, for longer than the queue's
    /// `waitReportDelay`, and no thread has come: the `underlyingQueue` is suspended, or blocked;
    /// all spare threads are blocked; or its closure is to begin on the main actor, and that is
    /// blocked, or has no thread that serves it. One report stands for all that have waited so long
    /// at that moment.
    public static let threadAwaited = Code(description: "threadAwaited")
    /// The body of a procedure has waited for longer than the queue's `waitReportDelay` for a token
    /// without a deadline, or in a call that another owner's token may end: the framework cannot
    /// know who ends that.
    public static let callAwaited = Code(description: "callAwaited")
    /// A procedure has waited for a procedure on no queue for longer than the queue's
    /// `waitReportDelay`.
    public static let dependencyNotAdded = Code(description: "dependencyNotAdded")
    /// `execute()` of a subclass has returned, and `finish()` was not called for longer than the
    /// queue's `waitReportDelay`, or can no longer be called. Reported once for each class.
    public static let finishForgotten = Code(description: "finishForgotten")
    /// A closure that was given to `queue.add { … }` has thrown, and no code can read its errors
    /// any more.
    public static let errorsUnobserved = Code(description: "errorsUnobserved")
    /// `errorsUnobserved`.
    @available(*, deprecated, renamed: "errorsUnobserved")
    public static var errorsUnheard: Code { .errorsUnobserved }
    /// The main thread is blocked in a wait for it, and it needs the main actor or the main queue.
    public static let mainThreadBlocked = Code(description: "mainThreadBlocked")
    /// Procedures wait for each other, and are cancelled for that reason.
    public static let waitCycle = Code(description: "waitCycle")
  }

  /// The kind of the report.
  public let code: Code

  /// The name of the procedure that it is about.
  public let procedureName: String

  /// How long it has lasted; nil for a momentary event.
  public let age: Duration?

  /// The report as a sentence on one line, with a remedy.
  public let description: String

  init(_ code: Code, _ name: String, age: Duration? = nil, _ description: String) {
    self.code = code
    procedureName = name
    self.age = age
    self.description = description.onOneLine
  }

  static func finishRefused(_ procedure: Procedure) -> Self {
    let name = procedure.name
    let advice =
      procedure.childList != nil
      ? "a group finishes when its children have; cancel it to end it early."
      : "it has not started; cancel it instead."
    return Self(
      .finishRefused, name, "finish() on '\(name)' was refused: \(advice)")
  }

  static func mainThreadBlocked(by call: WaitingCall, _ procedure: Procedure) -> Self {
    let name = procedure.name
    return Self(
      .mainThreadBlocked, name,
      "The main thread is blocked in \(call.name), and '\(name)' needs it: neither goes on. Write '\(call.instead)', "
        + "or block another thread.")
  }

  static func additionRefused(_ name: String, _ error: ProcedureError) -> Self {
    Self(.additionRefused, name, "'\(name)' was refused. \(error)")
  }

  static func errorsUnobserved(_ name: String, _ errors: [any Error]) -> Self {
    Self(
      .errorsUnobserved, name,
      "The closure of '\(name)', given to add { }, failed, and nothing looks at its errors: \(errors.sentence). Catch "
        + "them there, or keep what add returns: observe it, depend on it, or read its errors.")
  }

  static func errorsTooLate(_ name: String, _ errors: [any Error]) -> Self {
    Self(
      .finishTooLate, name,
      "The closure of '\(name)' ended after it had been finished, and these errors are lost: "
        + "\(errors.sentence). Throw, or finish, but not both; call a finish handle once.")
  }

  static func finishTooLate(_ name: String, _ errors: [any Error], instead form: String) -> Self {
    let loss = errors.isEmpty ? "" : ", and these errors are lost: \(errors.sentence)"
    return Self(
      .finishTooLate, name,
      "finish() on '\(name)' came after it had ended by itself, when its closure returned\(loss). "
        + "For work that calls back later write \(form).")
  }
}

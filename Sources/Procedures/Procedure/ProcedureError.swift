/// What the framework itself reports. Each reads as a sentence and names the procedure.
public enum ProcedureError: Error {
  /// It did not finish in the time it was given, counted from when it started.
  case timedOut(Duration)
  /// The deadline of the token that it was to be cancelled by has passed.
  case deadlineExceeded
  /// The group that it is in was cancelled with these errors.
  case parentCancelled([any Error])
  /// Another child (named here) of its group failed, and the group cancels the rest then.
  case siblingFailed(String)
  /// It was added to a group (named here) that had already finished, and so never ran.
  case groupFinished(String)
  /// It was added to a queue (named here) that was closed, and so never ran.
  case queueClosed(String)
  /// A child of a group (named here) ended with this error. Never nested, however deep the child.
  case child(String, any Error)
  /// The dependency named here failed, with these errors, and had to succeed.
  case dependencyFailed(String, [any Error])
  /// The dependency named here was cancelled, with these errors, and must not have been.
  case dependencyCancelled(String, [any Error])
  /// The procedure named here had no value where one was needed: no input when it executed, or no
  /// output for a procedure that is to get it.
  case requirementNotSatisfied(String)
  /// The procedure named here let go of its finish handle without calling it.
  case finishDropped(String)
  /// The condition named here was not satisfied, because of these errors, if any.
  case conditionFailed(String, [any Error])
  /// It waited for itself, by way of the others named here: each waits for the next, the last for the
  /// first.
  case dependencyCycle([String])
  /// The type named here does not override `execute()`.
  case notImplemented(String)
  /// The procedure named here tried to add another one while it was not between enqueued and
  /// finished itself, so there is no queue to add to.
  case notEnqueued(String)
}

extension ProcedureError: CustomStringConvertible {
  /// The error as a sentence.
  public var description: String {
    switch self {
    case .timedOut(let duration):
      "It did not finish within \(duration) and was cancelled."
    case .deadlineExceeded:
      "Its deadline passed and it was cancelled."
    case .parentCancelled(let errors):
      errors.isEmpty
        ? "Its group was cancelled." : "Its group was cancelled: \(errors.sentence)"
    case .siblingFailed(let name):
      "'\(name)' of the same group failed, and the group cancels the rest then."
    case .groupFinished(let group):
      "It was added to group '\(group)', which had already finished; add children before that."
    case .queueClosed(let queue):
      "It was added to queue '\(queue)', which was closed; add to it before that."
    case .child(let name, let error):
      "Child '\(name)': \(error)"
    case .dependencyFailed(let name, let errors):
      "Dependency '\(name)' failed, and had to succeed: \(errors.sentence)"
    case .dependencyCancelled(let name, let errors):
      "Dependency '\(name)' was cancelled" + (errors.isEmpty ? "." : ": \(errors.sentence)")
    case .requirementNotSatisfied(let name):
      "'\(name)' has no value where one is needed: set or inject its input before it executes, "
        + "or finish it with an output."
    case .finishDropped(let name):
      "'\(name)' let go of its finish handle without calling it; call it on every path."
    case .conditionFailed(let name, let errors):
      "Condition '\(name)' was not satisfied" + (errors.isEmpty ? "." : ": \(errors.sentence)")
    case .dependencyCycle(let names):
      "Each of these waits for the next, and the last for the first: "
        + names.map { "'\($0)'" }.joined(separator: " → ") + "; remove one of the waits."
    case .notImplemented(let type):
      "'\(type)' does not override execute(); override it and call finish() when the work is done."
    case .notEnqueued(let name):
      "Procedure '\(name)' is not on a queue, so it cannot add to one; "
        + "produce between enqueue and finish."
    }
  }
}

extension [any Error] {
  /// Without the dependencies by way of which a cancel came: down a long chain, each error would hold
  /// that of the one before.
  var causes: [any Error] {
    flatMap { error -> [any Error] in
      guard case .dependencyCancelled(_, let causes)? = error as? ProcedureError, !causes.isEmpty
      else { return [error] }
      return causes
    }
  }
}

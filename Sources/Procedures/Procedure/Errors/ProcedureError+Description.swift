internal import ProcedurePrimitives

extension ProcedureError: CustomStringConvertible {
  /// The error as a sentence: what happened, to which procedure, and what to do. Line breaks and
  /// control characters in names are shown escaped, such as `\n`.
  public var description: String {
    if case .message(let message) = details { return message }
    return switch code {
    case .timedOut:
      "\(quoted("It")) did not finish within \(duration?.short ?? "its time") and was cancelled; "
        + "give it more time, or less to do."
    case .deadlineExceeded:
      "\(quoted("It")) was cancelled because the deadline of its token passed; give the token more "
        + "time, or the procedure less to do."
    case .parentCancelled:
      "Its group \(named)was cancelled" + because
    case .siblingFailed:
      "\(quoted("Another child")) of the same group failed, and the group cancels the rest then"
        + because
    case .groupFinished:
      "It was added to \(name.map { "group '\($0)'" } ?? "a group"), which had already "
        + "finished; add children before that."
    case .queueClosed:
      "It was added to \(name.map { "queue '\($0)'" } ?? "a queue"), which had been closed; add it "
        + "before close()."
    case .queueFull:
      "There was no room for it in a feed of \(name.map { "queue '\($0)'" } ?? "a queue"); await add(_:) to "
        + "wait for room, or offer a new procedure later."
    case .child:
      (path.isEmpty ? "A child" : "Child '\(path.joined(separator: " › ").onOneLine)'") + because
    case .dependencyFailed, .dependencyCancelled:
      "Dependency \(named)\(endOfDependency)" + because
    case .requirementNotSatisfied:
      quoted("It") + lackOfValue
    case .notAttempted:
      "\(quoted("A retry")) made no attempt: give it a max of 1 or more, and return an attempt the first "
        + "time that one is asked for."
    case .finishDropped:
      "\(quoted("It")) released its finish handle without calling it; call it on every path."
    case .conditionFailed:
      condition + " was not satisfied" + because
    case .dependencyCycle:
      cycle.count == 1
        ? "'\(cycle[0].onOneLine)' waits for \(endOfItself): \(cycleSentences). Remove that wait."
        : "Each of these waits for the next, and the last for the first: \(cycleSentences). Remove one of the waits."
    case .notImplemented:
      "\(quoted("It")) does not override execute(), or calls super.execute(): override it without "
        + "that, and call finish() when the work is done."
    case .notEnqueued:
      "Procedure \(named)is not on a queue, so it cannot add to one; "
        + "produce between enqueue and finish."
    default:
      "\(quoted("A procedure")) reports \(code)" + because
    }
  }

  /// The name of the procedure, to be shown.
  private var name: String? { procedure?.onOneLine }

  /// What the only member of a cycle waits for.
  private var endOfItself: String {
    if case .cycle(let cycle) = details, cycle.isAmongOthers { return "itself, among others" }
    return "its own end"
  }

  private var endOfDependency: String {
    if case .end(let end) = details {
      switch end {
      case .ignored(let condition, of: nil):
        return "did not run, since its condition '\(condition.onOneLine)' was ignored"
      case .ignored(let condition, of: .some(let part)):
        return
          "was cancelled, since condition '\(condition.onOneLine)' of '\(part.onOneLine)' was ignored"
      case .errorAsOutput: return "succeeded, and has an error in place of an output"
      case .noOutput, .noOutputOfPart: break
      }
    }
    return code == .dependencyFailed ? "failed, and had to succeed" : "was cancelled"
  }

  private var lackOfValue: String {
    if case .end(let end) = details {
      switch end {
      case .noOutputOfPart(let part, let end):
        return " has no output: '\(part.onOneLine)' \(end.rawValue)" + because
      case .noOutput: return " has no output where one is needed: finish it with one, or set it."
      case .ignored, .errorAsOutput: break
      }
    }
    return " has no value where one is needed: set or inject its input before it executes, or "
      + "finish it with an output."
  }

  private var cycleSentences: String {
    if case .cycle(let cycle) = details {
      cycle.sentences.joined(separator: "; ").onOneLine
    } else {
      quoted("one") + " waits"
    }
  }

  private func quoted(_ otherwise: String) -> String { name.map { "'\($0)'" } ?? otherwise }

  /// The name, followed by a space, if there is one.
  private var named: String { name.map { "'\($0)' " } ?? "" }

  private var because: String {
    underlyingErrors.isEmpty ? "." : ": \(underlyingErrors.sentence)"
  }

  private var condition: String {
    var condition = "A condition"
    if case .condition(let name) = details { condition = "Condition '\(name.onOneLine)'" }
    return name.map { "\(condition) of '\($0)'" } ?? condition
  }
}

extension [any Error] {
  /// The errors on one line.
  var sentence: String { map { "\($0)" }.joined(separator: "; ") }
}

internal import Dispatch
internal import ProcedurePrimitives

extension ProcedureDiagnostic {
  static func lingering(_ procedure: Procedure, _ wait: Wait, age: Duration) -> Self {
    let name = procedure.name
    let reason =
      switch wait {
      case .finish: "execute() has returned; call finish() in procedureDidCancel(withErrors:)"
      case .thread(.turn):
        "no thread has come to deliver the cancel: the underlying queue is suspended, or blocked by what runs on it"
      case .nothing, .call:
        // This wait names the children, or the procedures for which the call waits.
        procedure.wait.summary ?? "it executes; finish when it reads cancelled"
      default: wait.summary ?? ""
      }
    return Self(
      .lingering, name, age: age,
      "'\(name)' was cancelled more than \(age.forPeople) ago and has not finished: \(reason).")
  }

  /// - Parameter age: nil if nothing can call `finish()` any more.
  static func finishForgotten(_ procedure: Procedure, age: Duration?) -> Self {
    let name = procedure.name
    let type = typeName(type(of: procedure))
    let subject = name == type ? "'\(name)'" : "'\(name)' (\(type))"
    guard let age else {
      return Self(
        .finishForgotten, name,
        "execute() of \(subject) has returned without finish(), and nothing seems to refer to it any more but its "
          + "queue: if so, it never ends unless it is cancelled. Call finish() on each path.")
    }
    return Self(
      .finishForgotten, name, age: age,
      "execute() of \(subject) returned \(age.forPeople) ago, and finish() has not been called since: was it "
        + "forgotten? Work that takes long can say so: by report(fractionCompleted:), by a handler on its "
        + "cancellationToken, or by a queue's waitReportDelay.")
  }

  static func eventHeld(_ event: HoldableEvent, of procedure: Procedure, age: Duration) -> Self {
    let name = procedure.name
    return Self(
      .eventHeld, name, age: age,
      "An observer of '\(name)' has held back its \(event) event for \(age.forPeople): "
        + "release the pending event.")
  }

  static func observerAwaited(
    _ place: ObserverPlace, by procedure: Procedure, age: Duration
  ) -> Self {
    let name = procedure.name
    let advice =
      switch place {
      case .mainActor:
        "nothing may block the main thread meanwhile, as blockUntilAllFinished() does."
      case .queue, .worker, .stage: "nothing may block that queue meanwhile."
      }
    return Self(
      .observerAwaited, name, age: age,
      "'\(name)' is \(procedure.state) and has waited for an observer \(place.words) for \(age.forPeople): "
        + advice)
  }

  static func conditionUnanswered(
    _ condition: String, of procedure: Procedure, age: Duration
  ) -> Self {
    let name = procedure.name
    return Self(
      .conditionUnanswered, name, age: age,
      "Condition '\(condition)' of '\(name)' has not answered for \(age.forPeople).")
  }

  static func threadAwaited(
    by procedure: Procedure, for errand: Wait.Errand, age: Duration
  ) -> Self {
    let name = procedure.name
    let reason: String
    switch errand {
    case .start: reason = "has been ready for \(age.forPeople)"
    case .turn: reason = "has had something to do for \(age.forPeople)"
    case .step: reason = "has had a step of its body to do for \(age.forPeople)"
    case .mainActor:
      return Self(
        .threadAwaited, name, age: age,
        "'\(name)' has been waiting for the main actor for \(age.forPeople), where its closure is to begin: the "
          + "main thread is blocked, or nothing serves the main queue, as dispatchMain() or an async main does."
      )
    }
    let place = procedure.peek { $0.list }?.context.scheduler.underlyingQueue.map {
      "the underlying queue '\($0.label)'"
    }
    let advice =
      place.map { "\($0) has not begun it: is that suspended, or blocked by what runs on it?" }
      ?? "no thread has come: each one of Dispatch's pool is blocked, and spare ones come one after another, up to 192. "
      + "Block fewer at once, or give the queue threads of its own."
    return Self(.threadAwaited, name, age: age, "'\(name)' \(reason), and \(advice)")
  }

  static func callAwaited(_ call: WaitingCall, by procedure: Procedure, age: Duration) -> Self {
    let name = procedure.name
    if call.isInHandler {
      return Self(
        .callAwaited, name, age: age,
        "A handler that is called for the cancel of '\(name)' has waited in \(call.name) for "
          + "\(call.target.nameForPeople) for \(age.forPeople), and that does not go on: '\(name)' goes on when the "
          + "handler has returned, so wait elsewhere.")
    }
    let rest =
      if let owner = call.token.flatMap(procedure.neighbour(withToken:))?.name {
        "that is the token of '\(owner)': it is cancelled with '\(owner)', or completes when '\(owner)' finishes."
      } else if call.isEndedByToken, !call.isForToken {
        "nothing that it waits for goes on: only a token ends that."
      } else {
        "the framework cannot know who ends that: if nobody does, it never finishes unless you cancel it."
      }
    return Self(
      .callAwaited, name, age: age,
      "'\(name)' has waited in \(call.words) for \(age.forPeople), and \(rest)")
  }

  static func dependencyNotAdded(
    _ dependency: Procedure, of procedure: Procedure, in wait: Wait, age: Duration
  ) -> Self {
    let name = procedure.name
    var (call, remedy) = ("", "")
    switch wait {
    case .dependencies: remedy = ", or remove the dependency"
    case .call(let waitingCall, _): call = " in \(waitingCall.name)"
    default: break
    }
    let place = dependency.placeInstead(advice: "add that to one")
    return Self(
      .dependencyNotAdded, name, age: age,
      "'\(name)' has waited \(age.forPeople)\(call) for '\(dependency.name)', \(place)\(remedy).")
  }

  static func waitCycle(_ error: ProcedureError) -> Self {
    Self(.waitCycle, error.cycle.first ?? "", "\(error)")
  }
}

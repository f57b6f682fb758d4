internal import Dispatch
internal import ProcedurePrimitives

extension ProcedureDiagnostic {
  static func lingering(_ procedure: Procedure, _ ownObstacle: Obstacle, age: Duration) -> Self {
    let name = procedure.name
    let reason =
      switch ownObstacle {
      case .finish: "execute() has returned; call finish() in procedureDidCancel(withErrors:)"
      case .nothing, .call:
        procedure.obstacle().summary ?? "it executes; finish when it reads cancelled"
      default: ownObstacle.summary ?? ""
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
        "execute() of \(subject) has returned without finish(), and nothing refers to it any more but its queue: "
          + "it never ends unless it is cancelled. Call finish() on each path.")
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

  static func threadAwaited(by procedure: Procedure, age: Duration) -> Self {
    let name = procedure.name
    let label = procedure.read { $0.list }?.context.scheduler.underlyingQueue?.label ?? ""
    return Self(
      .threadAwaited, name, age: age,
      "'\(name)' has been ready for \(age.forPeople), and the underlying queue '\(label)' has not begun it: is that "
        + "suspended, or blocked by what runs on it?")
  }

  static func dependencyNotAdded(
    _ dependency: Procedure, of procedure: Procedure, age: Duration
  ) -> Self {
    let name = procedure.name
    let place = dependency.placeInstead(advice: "add that to one")
    return Self(
      .dependencyNotAdded, name, age: age,
      "'\(name)' has waited \(age.forPeople) for '\(dependency.name)', \(place), or remove the dependency."
    )
  }

  /// - Parameter calls: the blocking calls that are some of the waits, each with its caller.
  static func waitCycle(
    _ error: ProcedureError, waitingIn calls: [(Procedure, WaitingCall)] = []
  ) -> Self {
    let sentences = calls.map {
      " '\($0.name)' waits in \($1.name) of \($1.target.nameForPeople)."
    }
    return Self(
      .waitCycle, error.cycle.first ?? "", "\(error)" + sentences.joined())
  }
}

extension ProcedureDiagnostic {
  static func lingering(_ procedure: Procedure, age: Duration) -> ProcedureDiagnostic {
    let name = procedure.name
    let obstacle = procedure.obstacle.summary ?? "it executes; finish when it reads cancelled"
    return ProcedureDiagnostic(
      .lingering, name, age: age,
      "'\(name)' was cancelled \(age) ago and has not finished: \(obstacle).")
  }

  static func eventHeld(
    _ event: HoldableEvent, of procedure: Procedure, age: Duration
  ) -> ProcedureDiagnostic {
    let name = procedure.name
    return ProcedureDiagnostic(
      .eventHeld, name, age: age,
      "An observer of '\(name)' has held back its \(event) event for \(age): "
        + "release the pending event.")
  }

  static func observerAwaited(
    _ place: ObserverPlace, by procedure: Procedure, age: Duration
  ) -> ProcedureDiagnostic {
    let name = procedure.name
    let advice =
      switch place {
      case .mainActor:
        "nothing may block the main thread meanwhile, as blockUntilAllFinished() does."
      case .queue, .worker: "nothing may block that queue meanwhile."
      }
    return ProcedureDiagnostic(
      .observerAwaited, name, age: age,
      "'\(name)' is \(procedure.state) and has waited for an observer \(place.words) for \(age): "
        + advice)
  }

  static func conditionUnanswered(
    _ condition: String, of procedure: Procedure, age: Duration
  ) -> ProcedureDiagnostic {
    let name = procedure.name
    return ProcedureDiagnostic(
      .conditionUnanswered, name, age: age,
      "Condition '\(condition)' of '\(name)' has not answered for \(age).")
  }

  static func dependencyNotAdded(
    _ dependency: Procedure, of procedure: Procedure, age: Duration
  ) -> ProcedureDiagnostic {
    let name = procedure.name
    let place = dependency.placeInstead(advice: "add that to one")
    return ProcedureDiagnostic(
      .dependencyNotAdded, name, age: age,
      "'\(name)' has waited \(age) for '\(dependency.name)', \(place), or remove the dependency.")
  }

  static func waitCycle(_ names: [String]) -> ProcedureDiagnostic {
    ProcedureDiagnostic(
      .waitCycle, names.first ?? "", "\(ProcedureError.dependencyCycle(names))")
  }
}

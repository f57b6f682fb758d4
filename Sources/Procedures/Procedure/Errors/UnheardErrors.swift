internal import ProcedurePrimitives

/// Reports the errors of a closure that was given to `queue.add { … }`, if nothing can look at them any more.
///
/// It is taken back when an observer, the delegate or an owner of the procedure reads its errors or its outcome.
/// The rest is reported when nothing but the worker refers to the finished procedure, or when that goes.
final class UnheardErrors: Sendable {
  private let name: String
  private let supervisor: SupervisorReference?

  init(_ name: String, reportedTo supervisor: SupervisorReference?) {
    self.name = name
    self.supervisor = supervisor
  }

  func report(_ errors: [any Error]) {
    let diagnostic = ProcedureDiagnostic.errorsUnheard(name, errors)
    if supervisor?.supervisor?.report(diagnostic) == true { return }
    #if DEBUG
      StandardError.write("Procedures: \(diagnostic)\n")
    #endif
  }
}

extension Procedure {
  /// It was made of a closure by the call that adds it, so that no caller has a reason to keep it. Before it is added.
  final func noteAddedAsClosure() { read { $0.noteFromClosure() } }

  /// Its closure has thrown. Called before it finishes.
  final func expectHearer() {
    guard read({ $0.isFromClosure && !$0.life.isCancelled }) else { return }
    let name = name
    read { core in
      let supervisor = core.list?.context.supervisor.reference
      core.attachments.with(Failure.self) {
        $0.unheard = UnheardErrors(name, reportedTo: supervisor)
      }
    }
  }

  /// The procedure has finished, and its list is about to let it go.
  final func reportUnheard() {
    let unheard = read { core in
      core.attachments.withExisting(Failure.self) { failure in
        failure.unheard.take().map { ($0, failure.errors) }
      } ?? nil
    }
    if let (unheard, errors) = unheard { unheard.report(errors) }
  }
}

extension ProcedureCore {
  /// A caller looks at how it ended.
  func noteHearer() {
    _ = attachments.withExisting(Failure.self) { $0.unheard = nil }
  }
}

internal import ProcedurePrimitives

/// The errors of a procedure: first the errors of its cancel, then the errors of its finish.
final class Failure: Attachment, @unchecked Sendable {
  /// Reports the errors of a closure that was given to `queue.add { … }`, if no code can read them
  /// any more.
  ///
  /// It is dropped when an observer, the delegate or an owner of the procedure reads its errors or
  /// its outcome. Otherwise the errors are reported when only the worker refers to the finished
  /// procedure, or when the procedure is deallocated.
  fileprivate struct UnobservedErrors: Sendable {
    let name: String
    let supervisor: Weak<QueueSupervisor>?

    func report(_ errors: [any Error]) {
      let diagnostic = ProcedureDiagnostic.errorsUnobserved(name, errors)
      if supervisor?.object?.report(diagnostic) == true { return }
      #if DEBUG
        diagnostic.writeToStandardError()
      #endif
    }
  }

  fileprivate struct Content: Sendable {
    var errors: [any Error] = []
    var cancelErrorCount = 0
    /// Set until a caller reads the errors, if it is possible that none does.
    var unobserved: UnobservedErrors?
  }

  /// The procedure's lock guards it: only the core reaches it.
  fileprivate var content = Content()

  override var afterFinish: Attachment? { self }

  deinit {
    if let unobserved = content.unobserved, !content.errors.isEmpty {
      unobserved.report(content.errors)
    }
  }
}

extension ProcedureCore {
  /// The errors of the cancel, then the errors of the finish.
  var errors: [any Error] { failure?.content.errors ?? [] }

  var cancelErrors: [any Error] {
    failure.map { Array($0.content.errors.prefix($0.content.cancelErrorCount)) } ?? []
  }

  private var failure: Failure? { life.isFailed ? attachments.existing() : nil }

  /// First part of a cancel: sets the flag, and keeps the errors if this cancel takes effect.
  mutating func noteMark(withErrors errors: [any Error]) -> Life.Effect {
    let effect = life.post(.mark(hasErrors: !errors.isEmpty))
    if effect == .none, !errors.isEmpty {
      attachments.with(Failure.self) {
        ($0.content.errors, $0.content.cancelErrorCount) = (errors, errors.count)
      }
    }
    return effect
  }

  /// Finishes. The errors are kept if that takes effect.
  @inline(__always)
  mutating func noteFinish(
    withErrors errors: [any Error], isByItself: Bool = false, isClaimed: Bool = false
  ) -> Life.Effect {
    let hasErrors = !errors.isEmpty
    let effect = life.post(
      .finish(hasErrors: hasErrors, isByItself: isByItself, isClaimed: isClaimed))
    if hasErrors, effect.isAccepted { keep(errors) }
    return effect
  }

  /// The children of a group have finished; `errors` are those that the group takes over.
  mutating func noteChildrenFinished(
    withErrors errors: [any Error]
  ) -> Life.Effect {
    if !errors.isEmpty { keep(errors) }
    return life.post(.childrenFinished(hasErrors: !errors.isEmpty))
  }

  @inline(never)
  private mutating func keep(_ errors: [any Error]) {
    attachments.with(Failure.self) { $0.content.errors += errors }
  }

  /// A caller reads how it ended.
  func markObserved() {
    attachments.existing(Failure.self)?.content.unobserved = nil
  }
}

extension Procedure {
  /// Created by `queue.add { … }`: the caller may drop it. Called before it is added.
  final func noteAddedAsClosure() { withCore { $0.noteFromClosure() } }

  /// Its closure has thrown. Called before it finishes.
  final func trackUnobservedErrors() {
    guard peek({ $0.isFromClosure && !$0.life.isCancelled }) else { return }
    let name = name
    withCore { core in
      let supervisor = core.list.map { Weak($0.context.supervisor) }
      core.attachments.with(Failure.self) {
        $0.content.unobserved = Failure.UnobservedErrors(name: name, supervisor: supervisor)
      }
    }
  }

  /// The procedure has finished, and its list is about to release it.
  final func reportUnobserved() {
    let unobserved: (Failure.UnobservedErrors, [any Error])? = withCore { core in
      guard let failure = core.attachments.existing(Failure.self) else { return nil }
      return failure.content.unobserved.take().map { ($0, failure.content.errors) }
    }
    if let (unobserved, errors) = unobserved { unobserved.report(errors) }
  }
}

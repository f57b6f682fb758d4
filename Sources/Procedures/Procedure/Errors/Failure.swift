/// The errors of a procedure: first those of its cancel, then those of its finish.
final class Failure: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) fileprivate(set) var errors: [any Error] = []
  @safe @exclusivity(unchecked) fileprivate var cancelErrorCount = 0

  /// Set until a caller looks at the errors, if it may be that none does.
  @safe @exclusivity(unchecked) var unheard: UnheardErrors?

  override var remainder: Attachment? { self }

  deinit {
    if let unheard, !errors.isEmpty { unheard.report(errors) }
  }
}

extension ProcedureCore {
  /// Those of the cancel, and then those of the finish.
  var errors: [any Error] { failure?.errors ?? [] }

  /// Those of the cancel.
  var cancelErrors: [any Error] {
    failure.map { Array($0.errors.prefix($0.cancelErrorCount)) } ?? []
  }

  private var failure: Failure? { life.isFailed ? attachments.existing() : nil }

  /// First part of a cancel: has the flag set, and keeps the errors if this is the cancel that counts.
  mutating func noteMark(withErrors errors: [any Error]) -> Life.Effect {
    let effect = life.post(.mark(hasErrors: !errors.isEmpty))
    if effect == .none, !errors.isEmpty {
      attachments.with(Failure.self) { ($0.errors, $0.cancelErrorCount) = (errors, errors.count) }
    }
    return effect
  }

  /// The finish, whose errors are kept if it has effect.
  @inline(__always)
  mutating func noteFinish(
    withErrors errors: [any Error], isByItself: Bool = false
  ) -> Life.Effect {
    let hasErrors = !errors.isEmpty
    let effect = life.post(.finish(hasErrors: hasErrors, isByItself: isByItself))
    if hasErrors, effect.isAccepted { keep(errors) }
    return effect
  }

  /// The end of a group's children, with the errors that it takes over.
  mutating func noteChildrenFinished(
    withErrors errors: [any Error]
  ) -> Life.Effect {
    if !errors.isEmpty { keep(errors) }
    return life.post(.childrenFinished(hasErrors: !errors.isEmpty))
  }

  @inline(never)
  private mutating func keep(_ errors: [any Error]) {
    attachments.with(Failure.self) { $0.errors += errors }
  }
}

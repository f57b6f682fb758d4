extension ProcedureError {
  /// Whether it reports the end of another procedure that this one needed.
  private var isMessenger: Bool { code == .dependencyFailed || code == .dependencyCancelled }

  /// Whether the group gave it to its children.
  var isOfGroup: Bool { code == .parentCancelled || code == .siblingFailed }

  /// Whether it exists only because another procedure in `group`, at any depth, or the group itself
  /// ended as it did.
  fileprivate func follows(within group: GroupReference) -> Bool {
    if isOfGroup { return true }
    if isMessenger { return origin?.isInside(group) ?? false }
    let causes = underlyingErrors
    guard code == .child || code == .conditionFailed, !causes.isEmpty else { return false }
    return causes.allSatisfy { ($0 as? ProcedureError)?.follows(within: group) ?? false }
  }

  /// The cause behind the messages of dependencies, and of a group that was ended by a cause; a
  /// cancel without errors becomes a `CancellationError`.
  fileprivate var cause: any Error {
    var error = self
    while error.isMessenger || error.isOfGroup && !error.underlyingErrors.isEmpty {
      guard let next = error.underlyingErrors.first else { return CancellationError() }
      guard let message = next as? ProcedureError else { return next }
      error = message
    }
    return error
  }
}

extension Error {
  /// The error itself; if it reports the end of a dependency or of the group, the cause of that
  /// end.
  var cause: any Error { (self as? ProcedureError)?.cause ?? self }
}

extension [any Error] {
  /// The errors, without the dependencies that only passed a cancel on: down a long chain, each
  /// error would hold the previous one.
  var causes: [any Error] {
    flatMap { error -> [any Error] in
      guard let message = error as? ProcedureError, message.code == .dependencyCancelled,
        !message.underlyingErrors.isEmpty
      else { return [error] }
      return message.underlyingErrors
    }
  }

  /// Omits the errors that follow from another end in `group`.
  func beginning(in group: GroupReference) -> [any Error] {
    filter { !(($0 as? ProcedureError)?.follows(within: group) ?? false) }
  }

  /// The errors of the child of that name, as its group reports them. An error names one child, at
  /// any depth, and the path to it.
  func named(after child: String) -> [any Error] {
    map { error in
      if let error = error as? ProcedureError, error.code == .child { return error.below(child) }
      return ProcedureError(.child, of: child, because: [error])
    }
  }
}

/// Errors that others report.
extension Sequence<any Error> {
  /// The first error of a type among these and the errors that they report.
  ///
  /// A group reports how a child ended by a `ProcedureError` with the errors of the child, a
  /// dependent reports a dependency so: this looks into all of these, in their order.
  ///
  /// ```swift
  /// if let declined = payment.errors.first(of: Declined.self) { show(declined.reason) }
  /// ```
  ///
  /// - Returns: nil if there is none.
  public func first<Failure: Error>(of type: Failure.Type) -> Failure? {
    // The next error is the last of these.
    var open = Array(reversed())
    while let error = open.popLast() {
      if let found = error as? Failure { return found }
      if let message = error as? ProcedureError { open += message.underlyingErrors.reversed() }
    }
    return nil
  }
}

extension ProcedureError {
  /// Whether it says how another procedure ended that this one needed.
  private var isMessenger: Bool { code == .dependencyFailed || code == .dependencyCancelled }

  /// Whether the group gave it to its children.
  var isOfGroup: Bool { code == .parentCancelled || code == .siblingFailed }

  /// Whether it is there only because another procedure in `group`, however deep, ended as it did, or
  /// the group itself.
  fileprivate func follows(within group: GroupReference) -> Bool {
    if isOfGroup { return true }
    if isMessenger { return origin?.isInside(group) ?? false }
    let causes = underlyingErrors
    guard code == .child || code == .conditionFailed, !causes.isEmpty else { return false }
    return causes.allSatisfy { ($0 as? ProcedureError)?.follows(within: group) ?? false }
  }

  /// The causes behind the messages of dependencies, and of a group that something has ended; a cancel without errors
  /// is a `CancellationError`.
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
  /// The error itself; if it says how a dependency or the group ended, the errors of that.
  var cause: any Error { (self as? ProcedureError)?.cause ?? self }
}

extension [any Error] {
  /// Without the dependencies by way of which a cancel came: down a long chain, each error would hold
  /// that of the one before.
  var causes: [any Error] {
    flatMap { error -> [any Error] in
      guard let message = error as? ProcedureError, message.code == .dependencyCancelled,
        !message.underlyingErrors.isEmpty
      else { return [error] }
      return message.underlyingErrors
    }
  }

  /// Without consequences of another end in `group`.
  func beginning(in group: GroupReference) -> [any Error] {
    filter { !(($0 as? ProcedureError)?.follows(within: group) ?? false) }
  }

  /// As errors of the group of a child of that name. An error names one child, however deep, and the way to it.
  func named(after child: String) -> [any Error] {
    map { error in
      if let error = error as? ProcedureError, error.code == .child { return error.below(child) }
      return ProcedureError(.child, of: child, because: [error])
    }
  }
}

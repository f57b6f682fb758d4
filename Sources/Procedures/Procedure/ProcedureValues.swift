/// The input, the output and the progress of a procedure. Guarded by the procedure's lock.
final class ProcedureValues: @unchecked Sendable {
  var input: StoredValue?
  /// A value of the procedure's `Output`, or a `StoredError`.
  var output: StoredValue?
  /// The finish that counts brought the output.
  var isOutputFinal = false
  /// The fraction that it reported last.
  var fraction: Double?
  var progressWeight: Double?
  /// While a reader watches its progress.
  var progressNode: ProgressNode?
}

/// A value of a type that only its user knows. A class, which is quick to cast.
class StoredValue: @unchecked Sendable {
  /// The value, if it is of that type.
  final func value<Value: Sendable>(as type: Value.Type) -> Value? {
    (self as? TypedValue<Value>)?.value
  }

  /// What was kept of a result of that type.
  final func result<Value: Sendable>(as type: Value.Type) -> Result<Value, any Error>? {
    if let failure = self as? StoredError { return .failure(failure.error) }
    return value(as: type).map { .success($0) }
  }

  static func keeping<Value: Sendable>(_ result: Result<Value, any Error>) -> StoredValue {
    switch result {
    case .success(let value): TypedValue(value)
    case .failure(let error): StoredError(error)
    }
  }
}

final class TypedValue<Value: Sendable>: StoredValue, @unchecked Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}

/// The error of a procedure that made no value.
final class StoredError: StoredValue, @unchecked Sendable {
  let error: any Error

  init(_ error: any Error) {
    self.error = error
  }
}

extension Procedure {
  /// The stored input.
  final var storedInput: StoredValue? {
    get { read { $0.extras?.values?.input } }
    set {
      // What is replaced is released after the lock.
      let replaced = read { core in
        core.withValues { values in
          let replaced = values.input
          values.input = newValue
          return replaced
        }
      }
      _ = replaced
    }
  }

  /// The stored output. Once that cannot change any more, a new value is ignored.
  final var storedOutput: StoredValue? {
    get { read { $0.extras?.values?.output } }
    set {
      let replaced: StoredValue? = read { core in
        guard core.machine.state < .finished else { return nil }
        return core.withValues { values in
          guard !values.isOutputFinal else { return nil }
          let replaced = values.output
          values.output = newValue
          return replaced
        }
      }
      _ = replaced
    }
  }

  /// What `finish(withResult:)` was given, if that was the finish that counts.
  final var finalOutput: StoredValue? {
    read { core in
      guard let values = core.extras?.values, values.isOutputFinal else { return nil }
      return values.output
    }
  }

  /// Ends the procedure with an output: both in one critical section, or neither.
  ///
  /// - Parameter isByItself: whether it is the end of a ready-made procedure whose closure has returned.
  /// - Parameter publish: called if it was accepted, before a turn can go on because of it.
  final func finish(
    errors: [any Error], output: StoredValue, isByItself: Bool, publish: () -> Void
  ) -> Bool {
    let effect = noteFinish(errors: errors, output: output, isByItself: isByItself)
    if effect.isAccepted { publish() }
    return answer(to: effect, with: errors, isByItself: isByItself)
  }

  /// The end of a ready-made procedure whose closure has returned that output. What keeps it is the
  /// property that comes with the protocol.
  final func finishByItself(with output: StoredValue) {
    _ = finish(errors: [], output: output, isByItself: true) {}
  }

  /// The end of a ready-made procedure whose closure has thrown. A `CancellationError` after a cancel is
  /// the cancel; anything else is a failure.
  final func finishByItself(throwing error: any Error) {
    if error is CancellationError, isCancelled {
      finishByItself(withErrors: [])
    } else {
      _ = finish(errors: [error], output: StoredError(error), isByItself: true) {}
    }
  }

  /// The first half of it: what the caller has to do then is in what is returned.
  final func noteFinish(
    errors: [any Error], output: StoredValue?, isByItself: Bool
  ) -> ProcedureStateMachine.Effect {
    // What is replaced is released after the lock.
    var replaced: StoredValue?
    let effect = update { core in
      let effect = core.machine.post(.finish(errors: errors))
      guard effect.isAccepted else { return effect }
      if isByItself { core.noteEnd(byItself: effect) }
      guard let output else { return effect }
      core.withValues { values in
        replaced = values.output
        values.output = output
        values.isOutputFinal = true
      }
      return effect
    }
    _ = replaced
    return effect
  }
}

extension ProcedureCore {
  mutating func withValues<Result>(_ body: (ProcedureValues) -> Result) -> Result {
    withExtras { extras in
      if let values = extras.values { return body(values) }
      let values = ProcedureValues()
      extras.values = values
      return body(values)
    }
  }
}

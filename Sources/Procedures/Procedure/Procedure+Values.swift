internal import ProcedurePrimitives

extension Procedure {
  /// The stored input.
  @usableFromInline final var storedInput: StoredValue {
    get { read { $0.input } }
    set {
      // The old value is released after the lock.
      var value = consume newValue
      read { core in core.attachments.with(Values.self) { swap(&$0.input, &value) } }
    }
  }

  /// The stored input, which must be there by now.
  ///
  /// Not by `InputProcedure`, whose conformance a generic class would have to look up.
  ///
  /// - Throws: `ProcedureError.Code.requirementNotSatisfied`.
  final func requireInput<Value: Sendable>(as type: Value.Type) throws -> Value {
    return try storedInput.value(as: type, orThrow: ProcedureError.requirementNotSatisfied(name))
  }

  /// The stored output. Once that cannot change any more, a new value is ignored.
  @usableFromInline final var storedOutput: StoredValue {
    get { read { $0.output } }
    set {
      var value = consume newValue
      read { core in
        guard core.machine.state < .finished, !core.isOutputFinal else { return }
        core.attachments.with(Values.self) { swap(&$0.output, &value) }
      }
    }
  }

  /// What `finish(withResult:)` was given, if that was the finish that counts.
  @usableFromInline final var finalOutput: StoredValue {
    read { $0.isOutputFinal ? $0.output : StoredValue() }
  }

  /// Ends the procedure with an output: both in one critical section, or neither.
  ///
  /// - Parameter isByItself: whether it is the end of a ready-made procedure whose closure has returned.
  /// - Parameter publish: called if it was accepted, before a turn can go on because of it.
  @usableFromInline
  final func finish(
    errors: [any Error], output: consuming StoredValue, isByItself: Bool, publish: () -> Void
  ) -> Bool {
    let effect = noteFinish(errors: errors, output: output, isByItself: isByItself)
    if effect.isAccepted { publish() }
    return answer(to: effect, with: errors, isByItself: isByItself)
  }

  /// The end of a ready-made procedure whose closure has returned that output. What keeps it is the
  /// property that comes with the protocol.
  final func finishByItself(with output: consuming StoredValue) {
    _ = finish(errors: [], output: output, isByItself: true) {}
  }

  /// The end of a ready-made procedure whose closure has thrown. A `CancellationError` after a cancel is
  /// the cancel; anything else is a failure.
  final func finishByItself(throwing error: any Error) {
    if error is CancellationError, isCancelled {
      finishByItself(withErrors: [])
    } else {
      _ = finish(errors: [error], output: StoredValue(failure: error), isByItself: true) {}
    }
  }

  /// The first half of it: what the caller has to do then is in what is returned.
  final func noteFinish(
    errors: [any Error], output: consuming StoredValue, isByItself: Bool
  ) -> ProcedureStateMachine.Effect {
    let (hasOutput, isVoid) = (!output.isEmpty, output.isVoid)
    // The old value is released after the lock.
    var value = output
    return update { core in
      let effect = core.noteFinish(withErrors: errors, isByItself: isByItself)
      guard effect.isAccepted else { return effect }
      if isByItself { core.noteEnd(byItself: effect) }
      if isVoid {
        core.noteMadeVoid()
      } else if hasOutput {
        core.attachments.with(Values.self) { values in
          swap(&values.output, &value)
          values.isOutputFinal = true
        }
      }
      return effect
    }
  }
}

/// Values on their way from one procedure to the next.
final class Values: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var input = StoredValue()
  /// A value of the procedure's `Output`, or an error.
  @safe @exclusivity(unchecked) var output = StoredValue()
  /// The finish that counts brought the output.
  @safe @exclusivity(unchecked) var isOutputFinal = false

  override var remainder: Attachment? { self }
}

extension ProcedureCore {
  private var values: Values? { attachments.existing() }

  fileprivate var input: StoredValue { values?.input ?? StoredValue() }

  fileprivate var output: StoredValue {
    mutating get { hasMadeVoid ? StoredValue(()) : values?.output ?? StoredValue() }
  }

  fileprivate var isOutputFinal: Bool {
    mutating get { hasMadeVoid || values?.isOutputFinal == true }
  }
}

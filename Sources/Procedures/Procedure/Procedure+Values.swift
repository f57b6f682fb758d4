internal import ProcedurePrimitives

extension Procedure {
  @usableFromInline final var storedInput: StoredValue {
    get { peek { $0.input } }
    set {
      // The old value is released after the lock.
      var value = consume newValue
      withCore { core in core.attachments.with(Values.self) { swap(&$0.value.input, &value) } }
    }
  }

  /// The stored input, which must exist by now.
  ///
  /// It does not use `InputProcedure`, whose conformance a generic class would have to look up.
  ///
  /// - Throws: `ProcedureError.Code.requirementNotSatisfied`.
  final func requireInput<Value: Sendable>(as type: Value.Type) throws -> Value {
    try storedInput.value(
      as: type, orThrow: ProcedureError(.requirementNotSatisfied, of: name))
  }

  /// The stored output. A new value is ignored once the output cannot change any more.
  @usableFromInline final var storedOutput: StoredValue {
    get { peek { $0.output } }
    set {
      var value = consume newValue
      withCore { core in
        guard core.life.state < .finished, !core.isOutputFinal else { return }
        core.attachments.with(Values.self) { swap(&$0.value.output, &value) }
      }
    }
  }

  /// The value that `finish(withResult:)` was given, if that finish took effect.
  @usableFromInline final var finalOutput: StoredValue {
    peek { $0.isOutputFinal ? $0.output : StoredValue() }
  }

  /// Finishes the procedure with its output, or the error in place of one: both in one critical
  /// section, or neither.
  ///
  /// - Parameter isByItself: whether the closure of a ready-made procedure has returned.
  /// - Parameter isClaimed: whether the finish was claimed.
  /// - Parameter publish: called if the finish was accepted, before a turn can continue because of
  ///   it.
  @usableFromInline
  final func finish(
    with output: consuming StoredValue, isByItself: Bool = false, isClaimed: Bool = false,
    publish: () -> Void = {}
  ) -> Bool {
    let failure = output.failure
    let effect = noteFinish(with: output, isByItself: isByItself, isClaimed: isClaimed)
    if effect.isAccepted { publish() }
    return answer(to: effect, with: failure.map { [$0] } ?? [], isByItself: isByItself)
  }

  /// Finishes a ready-made procedure with the value that its closure returns, or the error that it
  /// throws. A `CancellationError` after a cancel counts as the cancel; any other error is a
  /// failure.
  final func finishByItself(with body: () throws -> StoredValue) {
    let output: StoredValue
    do {
      output = try body()
    } catch is CancellationError where isCancelled {
      output = StoredValue()
    } catch {
      output = StoredValue(failure: error)
    }
    _ = finish(with: output, isByItself: true)
  }

  /// The first half of `finish(with:)`: the caller continues according to the returned effect.
  final func noteFinish(
    with output: consuming StoredValue, isByItself: Bool, isClaimed: Bool = false
  ) -> Life.Effect {
    let (hasOutput, isVoid) = (!output.isEmpty, output.isVoid)
    let errors = output.failure.map { [$0] } ?? []
    // The old value is released after the lock.
    var value = output
    return withCore { core in
      // 1. The first finish wins, and only its output counts (F5).
      let effect = core.noteFinish(
        withErrors: errors, isByItself: isByItself, isClaimed: isClaimed)
      guard effect.isAccepted else { return effect }
      if isByItself { core.noteEnd(byItself: effect) }
      // 2. In the same critical section: a turn that goes on with the finish finds the output.
      if isVoid {
        core.noteMadeVoid()
      } else if hasOutput {
        core.attachments.with(Values.self) { values in
          swap(&values.value.output, &value)
          values.value.isOutputFinal = true
        }
      }
      return effect
    }
  }
}

/// Values that are handed from one procedure to the next.
final class Values: Attachment, @unchecked Sendable {
  struct Value: Sendable {
    var input = StoredValue()
    /// A value of the procedure's `Output`, or an error.
    var output = StoredValue()
    /// Whether the accepted finish brought the output.
    var isOutputFinal = false
  }

  /// The procedure's lock guards it: only the core reaches the attachment.
  @safe @exclusivity(unchecked) var value = Value()

  override var afterFinish: Attachment? { self }
}

extension ProcedureCore {
  private var values: Values? { attachments.existing() }

  fileprivate var input: StoredValue { values?.value.input ?? StoredValue() }

  fileprivate var output: StoredValue {
    hasMadeVoid ? StoredValue(()) : values?.value.output ?? StoredValue()
  }

  fileprivate var isOutputFinal: Bool {
    hasMadeVoid || values?.value.isOutputFinal == true
  }
}

/// A value of a type that only its user knows, the error of a procedure that made none, or neither.
///
/// An output becomes an input unchanged. It is neither an optional nor an enum: with a value of any
/// type in one of these, a function of the runtime would determine the case at each copy.
@usableFromInline
struct StoredValue: Sendable {
  /// `()` if there is no value.
  @usableFromInline let kept: any Sendable
  @usableFromInline let failure: (any Error)?
  @usableFromInline let isValue: Bool

  /// Neither a value nor an error.
  @inlinable
  init() { (kept, failure, isValue) = ((), nil, false) }

  @inlinable
  init<Value: Sendable>(_ value: consuming Value) { (kept, failure, isValue) = (value, nil, true) }

  @inlinable
  init(failure: any Error) { (kept, self.failure, isValue) = ((), failure, false) }

  @inlinable
  static func keeping<Value: Sendable>(_ result: Result<Value, any Error>) -> StoredValue {
    switch result {
    case .success(let value): StoredValue(value)
    case .failure(let error): StoredValue(failure: error)
    }
  }

  /// Whether there is neither a value nor an error.
  @inlinable var isEmpty: Bool { !isValue && failure == nil }

  /// Whether it is the one value of `Void`.
  var isVoid: Bool { isValue && isExactly(kept, Void.self) }

  /// The stored result, if the value is of that type.
  @inlinable
  func result<Value: Sendable>(as type: Value.Type) -> Result<Value, any Error>? {
    if let failure { return .failure(failure) }
    return value(as: type).map { .success($0) }
  }

  /// The value, if it is of that type.
  @inlinable
  func value<Value: Sendable>(as type: Value.Type) -> Value? {
    guard isValue else { return nil }
    return isExactly(kept, type) ? exactly(kept, as: type) : cast(kept, to: type)
  }

  /// The value itself, not an optional, whose type would have to be looked up where the value's
  /// type is not known.
  func value<Value: Sendable>(
    as type: Value.Type, orThrow error: @autoclosure () -> any Error
  ) throws -> Value {
    guard isValue else { throw error() }
    if isExactly(kept, type) { return exactly(kept, as: type) }
    return try cast(kept, to: type, orThrow: error())
  }

  @inlinable
  func isExactly<Stored, Value>(_ stored: Stored, _ type: Value.Type) -> Bool {
    Stored.self == type
  }

  /// It needs no dynamic cast, which takes ten times as long.
  @inlinable
  func exactly<Stored, Value>(_ stored: Stored, as type: Value.Type) -> Value {
    unsafe unsafeBitCast(stored, to: type)
  }

  /// A value that was stored as a protocol type has its own type here. A nil that was stored as
  /// `any Sendable` is still a value.
  @inlinable
  func cast<Value: Sendable>(_ value: any Sendable, to type: Value.Type) -> Value? {
    type == (any Sendable).self ? unsafe unsafeBitCast(value, to: type) : value as? Value
  }

  @inline(never)
  private func cast<Value: Sendable>(
    _ value: any Sendable, to type: Value.Type, orThrow error: @autoclosure () -> any Error
  ) throws -> Value {
    guard let value = cast(value, to: type) else { throw error() }
    return value
  }
}

/// A procedure that needs a value before it can execute.
///
/// Say what the value is; where it is kept comes with the protocol:
///
/// ```swift
/// final class Resize: Procedure, InputProcedure, @unchecked Sendable {
///   typealias Input = Image
///
///   override func execute() {
///     guard let image = input else { return finish(withError: NoImage()) }
///     …
///   }
/// }
///
/// resize.injectResult(from: download)
/// ```
///
/// `any InputProcedure<Image>` is a procedure of which only the type of its input is known.
public protocol InputProcedure<Input>: Procedure {
  /// The type of the input.
  associatedtype Input: Sendable

  /// The input; nil until it is set. Set it, or have it injected, before the procedure executes; a ready-made procedure
  /// does not look at it later.
  ///
  /// The property that comes with the protocol is behind the procedure's lock: it may be read and
  /// set from any thread. A stored property of your own in its place needs a lock of its own.
  var input: Input? { get set }
}

extension InputProcedure {
  /// The input, behind the procedure's lock.
  @inlinable
  public var input: Input? {
    get { storedInput.value(as: Input.self) }
    set { storedInput = newValue.map { StoredValue($0) } ?? StoredValue() }
  }
}

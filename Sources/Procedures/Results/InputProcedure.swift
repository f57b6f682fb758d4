/// A procedure that needs a value before it can execute.
///
/// Name the type of the value; the protocol provides its storage:
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
/// `any InputProcedure<Image>` is any procedure with an `Image` as its input.
public protocol InputProcedure<Input>: Procedure {
  /// The type of the input.
  associatedtype Input: Sendable

  /// The input; nil until it is set. Set it, or inject it, before the procedure executes; the
  /// procedures of the framework do not read it later.
  ///
  /// The provided property is guarded by the procedure's lock, so you may read and set it on any
  /// thread. If you store it in a property of your own, that needs a lock of its own.
  var input: Input? { get set }
}

extension InputProcedure {
  /// The input, guarded by the procedure's lock.
  @inlinable
  public var input: Input? {
    get { storedInput.value(as: Input.self) }
    set { storedInput = newValue.map { StoredValue($0) } ?? StoredValue() }
  }
}

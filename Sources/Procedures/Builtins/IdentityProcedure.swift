/// Passes its input through unchanged.
nonisolated open class IdentityProcedure<Value: Sendable>: TransformProcedure<Value, Value>,
  @unchecked Sendable
{
  /// Makes a procedure whose output is its input.
  public init(name: String? = nil) {
    super.init(name: name) { (value: Value) in value }
  }
}

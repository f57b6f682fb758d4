/// Its output is its input: where something has to be handed on as it is.
nonisolated open class IdentityProcedure<Value: Sendable>: TransformProcedure<Value, Value>,
  @unchecked Sendable
{
  /// Makes a procedure that hands its input on.
  public init(name: String? = nil) {
    super.init(name: name) { (value: Value) in value }
  }
}

/// Its output is its input: where something has to be handed on as it is.
nonisolated open class IdentityProcedure<Value: Sendable>: TransformProcedure<Value, Value>,
  @unchecked Sendable
{
  /// Makes a procedure that hands its input on.
  public init() {
    super.init { (value: Value) in value }
  }
}

/// Combines all elements of an array into one value.
///
/// Like `MapProcedure` it follows the order of the source, which you may inject.
nonisolated open class ReduceProcedure<Element: Sendable, Value: Sendable>: TransformProcedure<
  [Element], Value
>, @unchecked Sendable
{
  /// Makes a procedure that combines the elements of `source`, beginning with `initial`.
  @inlinable
  public init(
    name: String? = nil, source: [Element]? = nil, initial: Value,
    nextPartialResult: @escaping @Sendable (_ partial: Value, _ element: Element) throws -> Value
  ) {
    super.init(name: name) { procedure, elements in
      try elements.reduce(initial) { partial, element in
        if procedure.isCancelled { throw CancellationError() }
        return try nextPartialResult(partial, element)
      }
    }
    if let source { input = source }
  }
}

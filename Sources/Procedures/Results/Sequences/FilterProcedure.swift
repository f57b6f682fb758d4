/// Makes an array of the elements that a closure includes.
///
/// Like `MapProcedure` it keeps the order of the source, which you may inject.
nonisolated open class FilterProcedure<Element: Sendable>: TransformProcedure<[Element], [Element]>,
  @unchecked Sendable
{
  /// Makes a procedure that filters `source`.
  @inlinable
  public init(
    name: String? = nil, source: [Element]? = nil,
    includeElement: @escaping @Sendable (Element) throws -> Bool
  ) {
    super.init(name: name) { procedure, elements in
      try elements.filter(procedure.unlessCancelled(includeElement))
    }
    if let source { input = source }
  }
}

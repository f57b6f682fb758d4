/// Transforms each element of an array with a closure.
///
/// ```swift
/// let lengths = MapProcedure(source: ["a", "bc"]) { text in text.count }
/// let sizes = files.map { file in file.size }   // `files` is a procedure
/// ```
///
/// It keeps the order of the source, which you may also inject, or set as `input`. Without an input
/// when it executes, it fails with `ProcedureError.Code.requirementNotSatisfied`. It fails with an
/// error that the closure throws, and ends between two elements after a cancel.
nonisolated open class MapProcedure<Element: Sendable, Mapped: Sendable>: TransformProcedure<
  [Element], [Mapped]
>, @unchecked Sendable
{
  /// Makes a procedure that maps each element of `source`.
  @inlinable
  public init(
    name: String? = nil, source: [Element]? = nil,
    transform: @escaping @Sendable (Element) throws -> Mapped
  ) {
    super.init(name: name) { procedure, elements in
      try elements.map(procedure.unlessCancelled(transform))
    }
    if let source { input = source }
  }
}

/// Transforms each element of an array into several with a closure, and joins the results.
///
/// It works like `MapProcedure`, except that the closure returns any number of elements for each.
nonisolated open class FlatMapProcedure<Element: Sendable, Mapped: Sendable>: TransformProcedure<
  [Element], [Mapped]
>, @unchecked Sendable
{
  /// Makes a procedure that maps each element of `source` to several.
  @inlinable
  public init<Several: Sequence<Mapped> & SendableMetatype>(
    name: String? = nil, source: [Element]? = nil,
    transform: @escaping @Sendable (Element) throws -> Several
  ) {
    super.init(name: name) { procedure, elements in
      try elements.flatMap(procedure.unlessCancelled(transform))
    }
    if let source { input = source }
  }

  /// Makes a procedure that maps each element of `source` to one, or to nil for none.
  @inlinable
  public init(
    name: String? = nil, source: [Element]? = nil,
    transform: @escaping @Sendable (Element) throws -> Mapped?
  ) {
    super.init(name: name) { procedure, elements in
      try elements.compactMap(procedure.unlessCancelled(transform))
    }
    if let source { input = source }
  }
}

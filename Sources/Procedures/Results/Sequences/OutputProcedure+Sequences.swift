// Each method makes a procedure into which the output of this one is injected, and which therefore
// depends on it. Add both to a queue or a group.
extension OutputProcedure where Output: Sequence, Output.Element: Sendable {
  /// Makes a procedure that maps each element of the output.
  ///
  /// ```swift
  /// let sizes = files.map { file in try size(of: file) }
  /// queue.add(files, sizes)
  /// ```
  @inlinable
  public func map<Mapped: Sendable>(
    transform: @escaping @Sendable (Output.Element) throws -> Mapped
  ) -> MapProcedure<Output.Element, Mapped> {
    MapProcedure(transform: transform).injectElements(of: self)
  }

  /// A procedure that maps each element of the output to several.
  @inlinable
  public func flatMap<Several: Sequence & SendableMetatype>(
    transform: @escaping @Sendable (Output.Element) throws -> Several
  ) -> FlatMapProcedure<Output.Element, Several.Element> where Several.Element: Sendable {
    FlatMapProcedure(transform: transform).injectElements(of: self)
  }

  /// A procedure that maps each element of the output to one, or to nil for none.
  @inlinable
  public func flatMap<Mapped: Sendable>(
    transform: @escaping @Sendable (Output.Element) throws -> Mapped?
  ) -> FlatMapProcedure<Output.Element, Mapped> {
    FlatMapProcedure(transform: transform).injectElements(of: self)
  }

  /// A procedure that keeps the elements of the output that `includeElement` includes.
  @inlinable
  public func filter(
    includeElement: @escaping @Sendable (Output.Element) throws -> Bool
  ) -> FilterProcedure<Output.Element> {
    FilterProcedure(includeElement: includeElement)
      .injectElements(of: self)
  }

  /// A procedure that combines all elements of the output, beginning with `initial`.
  @inlinable
  public func reduce<Value: Sendable>(
    _ initial: Value,
    nextPartialResult:
      @escaping @Sendable (_ partial: Value, _ element: Output.Element) throws -> Value
  ) -> ReduceProcedure<Output.Element, Value> {
    ReduceProcedure(initial: initial, nextPartialResult: nextPartialResult)
      .injectElements(of: self)
  }
}

extension InputProcedure {
  /// Makes an array of the elements of `source` the input of this procedure.
  ///
  /// An array is handed over as it is stored, which needs no turn of this procedure.
  @inlinable
  func injectElements<Source: OutputProcedure>(of source: Source) -> Self
  where Source.Output: Sequence, Input == [Source.Output.Element] {
    if Source.Output.self == Input.self, addOutputHandOver(from: source) { return self }
    return injectResult(from: source, via: { Array($0) })
  }
}

extension Procedure {
  /// Makes a closure that looks for a cancel before each call of `body`, and throws
  /// `CancellationError` then.
  @inlinable
  func unlessCancelled<Element, Result>(
    _ body: @escaping (Element) throws -> Result
  ) -> (Element) throws -> Result {
    { [self] element in
      if isCancelled { throw CancellationError() }
      return try body(element)
    }
  }
}

internal import ProcedurePrimitives

extension InputProcedure {
  /// Makes a tuple of the outputs of several procedures, of any types, the input of this one.
  ///
  /// ```swift
  /// let text = ResultProcedure { "to be" }
  /// let count = ResultProcedure { 3 }
  /// let repeated = TransformProcedure<(String, Int), String> { input in
  ///   let (text, count) = input
  ///   return Array(repeating: text, count: count).joined(separator: " ")
  /// }
  /// repeated.injectResult(from: text, count)
  /// queue.add(text, count, repeated)
  /// ```
  ///
  /// The tuple has the order of the call, even if the procedures finish in another order; it is set
  /// when all have finished. Each procedure is a source as with `injectResult(from:)`: it may be on
  /// a queue already, or have finished, and the first one that failed, was cancelled or has no
  /// output cancels this procedure. After its hand-over neither retains the other.
  ///
  /// - Returns: this procedure.
  @discardableResult
  public func injectResult<
    First: OutputProcedure, Second: OutputProcedure, each Other: OutputProcedure
  >(
    from first: First, _ second: Second, _ other: repeat each Other
  ) -> Self where Input == (First.Output, Second.Output, repeat (each Other).Output) {
    var count = 2
    for _ in repeat (each Other).self { count += 1 }
    let gathered = GatheredOutputs<StoredValue>(count: count)
    @Sendable func input(of outputs: [StoredValue]) -> Input {
      var index = 0
      func next<Output: Sendable>(_ type: Output.Type) -> Output {
        defer { index += 1 }
        guard let output = outputs[index].value(as: type) else {
          stopBecauseOfInconsistency("Internal inconsistency: an output is missing")
        }
        return output
      }
      return (
        next(First.Output.self), next(Second.Output.self),
        repeat next((each Other).Output.self)
      )
    }
    var index = 0
    func inject<Source: OutputProcedure>(from source: Source) {
      let place = index
      index += 1
      self.inject(dependency: source) { target, source, _ in
        let output = StoredValue(try source.outputToHandOver())
        if gathered.set(output, at: place) { target.input = input(of: gathered.takeAll()) }
      }
    }
    inject(from: first)
    inject(from: second)
    repeat inject(from: each other)
    return self
  }
}

internal import ProcedurePrimitives

extension InputProcedure {
  /// Makes the outputs of several procedures, of any types, the input of this one: a tuple.
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
  /// The tuple is in the order of the call, whatever the order in which they finish; it is there
  /// when all have. Each of them is a source as with `injectResult(from:)`, and may be enqueued or
  /// have finished: the first that failed, was cancelled or has no output cancels this procedure.
  /// Neither keeps the other alive after its hand-over.
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
    let outputs = GatheredOutputs(count: count)
    @Sendable func inputOfOutputs() -> Input {
      var index = 0
      func next<Output: Sendable>(_ type: Output.Type) -> Output {
        defer { index += 1 }
        return outputs.output(at: index, as: type)
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
      receive(from: source) { target, _, output in
        if outputs.set(output, at: place) { target.input = inputOfOutputs() }
      }
    }
    inject(from: first)
    inject(from: second)
    repeat inject(from: each other)
    return self
  }
}

/// The outputs of several sources, until the last of them is there.
private final class GatheredOutputs: Sendable {
  private struct Gathered: Sendable {
    var outputs: [StoredValue]
    var missing: Int
  }

  private let state: Locked<Gathered>

  init(count: Int) {
    state = Locked(Gathered(outputs: Array(repeating: StoredValue(), count: count), missing: count))
  }

  /// True if that was the last.
  func set<Output: Sendable>(_ output: Output, at index: Int) -> Bool {
    let stored = StoredValue(output)
    return state.withLock { state in
      state.outputs[index] = stored
      state.missing -= 1
      return state.missing == 0
    }
  }

  func output<Output: Sendable>(at index: Int, as type: Output.Type) -> Output {
    guard let output = state.withLock({ $0.outputs[index] }).value(as: type) else {
      preconditionFailure("Internal inconsistency: an output is missing")
    }
    return output
  }
}

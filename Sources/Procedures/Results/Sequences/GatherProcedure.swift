internal import ProcedurePrimitives

/// Makes an array of the outputs of several procedures, in their order.
///
/// ```swift
/// let pages = urls.map { url in Load(url) }
/// let all = GatherProcedure(pages)   // or pages.gathered()
/// queue.add(pages)
/// queue.add(all)
/// print(try await all.value)
/// ```
///
/// It depends on all of them. If a source fails, is cancelled or has no output, there is no array,
/// and this procedure is cancelled as with `injectResult(from:)`, as soon as that source has
/// finished. Once all values have been handed over, it retains none of the sources.
nonisolated open class GatherProcedure<Element: Sendable>: Procedure, EndsByItself, OutputProcedure,
  @unchecked Sendable
{
  /// The array of the sources' outputs.
  public typealias Output = [Element]

  private final let elements: GatheredOutputs<Element>

  /// Makes a procedure that gathers the outputs of `sources`.
  public init<Source: OutputProcedure>(
    name: String? = nil, _ sources: some Sequence<Source>
  )
  where Source.Output == Element {
    let sources = Array(sources)
    elements = GatheredOutputs(count: sources.count)
    super.init()
    if let name { self.name = name }
    for (index, source) in sources.enumerated() { gather(from: source, at: index) }
  }

  /// Makes a procedure that gathers the outputs of sources of several types.
  @_disfavoredOverload  // An array of one type takes the other one.
  public init(name: String? = nil, _ sources: [any OutputProcedure<Element>]) {
    elements = GatheredOutputs(count: sources.count)
    super.init()
    if let name { self.name = name }
    for (index, source) in sources.enumerated() { gather(from: source, at: index) }
  }

  private func gather(from source: some OutputProcedure<Element>, at index: Int) {
    inject(dependency: source) { procedure, source, _ in
      _ = procedure.elements.set(try source.outputToHandOver(), at: index)
    }
  }

  /// Finishes with the array.
  public final override func execute() {
    // All outputs are set: otherwise the procedure would have been cancelled.
    finish(withResult: .success(elements.takeAll()))
  }

  final override func workDidEnter(_ phase: WorkPhase) {
    if phase == .over { _ = elements.takeAll() }
  }
}

/// The outputs of several sources, in the order of the sources.
final class GatheredOutputs<Output: Sendable>: Sendable {
  private struct State: Sendable {
    var outputs: [Output?]
    var missing: Int
  }

  private let state: Locked<State>

  init(count: Int) {
    state = Locked(State(outputs: Array(repeating: nil, count: count), missing: count))
  }

  /// - Returns: true if this was the last missing output.
  func set(_ output: Output, at index: Int) -> Bool {
    state.withLock { state in
      state.outputs[index] = output
      state.missing -= 1
      return state.missing == 0
    }
  }

  func takeAll() -> [Output] {
    state.withLock { exchange(&$0.outputs, with: []) }.compactMap { $0 }
  }
}

/// The outputs of several procedures as one array.
extension Sequence where Element: OutputProcedure {
  /// Makes a procedure that gathers the outputs of these procedures, in their order. See
  /// `GatherProcedure`.
  public func gathered() -> GatherProcedure<Element.Output> { GatherProcedure(self) }
}

/// The outputs of procedures of several types as one array.
extension Sequence {
  /// Makes a procedure that gathers the outputs of these procedures, of several types, in their
  /// order.
  ///
  /// ```swift
  /// let parts: [any OutputProcedure<String>] = [Read(file), ResultProcedure { "." }]
  /// let text = parts.gathered()
  /// ```
  public func gathered<Value: Sendable>() -> GatherProcedure<Value>
  where Element == any OutputProcedure<Value> {
    GatherProcedure(Array(self))
  }
}

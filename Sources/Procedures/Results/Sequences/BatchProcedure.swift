/// Transforms each element of an array with a procedure of its own, side by side.
///
/// ```swift
/// let thumbnails = BatchProcedure { Resize(to: .thumbnail) }
/// thumbnails.maxConcurrentChildCount = 4
/// thumbnails.injectResult(from: photos)
/// ```
///
/// It is a group: when it executes, it makes a child for each element of the input. Its output has
/// their outputs, in the order of the input. If a child fails, is cancelled or has no output, there
/// is no output, and the group has the child's errors; the others go on, as in any group. A child
/// without a name is named after its type and its index in the input, such as `Resize[3]`, so that
/// errors identify it. Without an input the group is cancelled with
/// `ProcedureError.Code.requirementNotSatisfied`.
nonisolated open class BatchProcedure<Transform: InputProcedure & OutputProcedure>: GroupProcedure,
  InputProcedure, OutputProcedure, @unchecked Sendable
{
  /// The array of the transforms' inputs.
  public typealias Input = [Transform.Input]
  /// The array of the transforms' outputs.
  public typealias Output = [Transform.Output]

  /// Once the group is on a queue, only its turn accesses this, and releases it there.
  private final var makeTransform: (@Sendable () -> Transform)?

  /// Makes a batch.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - transform: makes the procedure for an element. It is called once for each element, in
  ///     order, when the batch executes, and then released.
  public init(name: String? = nil, _ transform: @escaping @Sendable () -> Transform) {
    makeTransform = transform
    super.init(name: name)
  }

  /// Makes the children. An override calls `super.execute()`.
  open override func execute() {
    if let input, let make = makeTransform.take() {
      begin(input, make)
    } else {
      cancel(withError: ProcedureError(.requirementNotSatisfied, of: name))
    }
    super.execute()
  }

  final override func workDidEnter(_ phase: WorkPhase) {
    super.workDidEnter(phase)
    if phase == .over { makeTransform = nil }
  }

  private func begin(_ input: Input, _ make: @Sendable () -> Transform) {
    guard !input.isEmpty else {
      output = .success([])
      return
    }
    let outputs = GatheredOutputs<Transform.Output>(count: input.count)
    for (index, element) in input.enumerated() {
      if isCancelled { break }
      let transform = make()
      transform.input = element
      if transform.hasNoName { transform.name += "[\(index)]" }
      transform.addDidFinishBlockObserver { [weak self] transform, _ in
        guard let element = Self.output(of: transform) else { return }
        if outputs.set(element, at: index) { self?.output = .success(outputs.takeAll()) }
      }
      add(child: transform)
    }
  }
  fileprivate static func output(of transform: Transform) -> Transform.Output? {
    guard case .succeeded? = transform.outcome, case .success(let output)? = transform.result
    else { return nil }
    return output
  }
}

extension BatchProcedure: GathersOutputs {
  final var childWithoutOutput: Procedure? {
    children.first { child in (child as? Transform).map { Self.output(of: $0) == nil } ?? false }
  }
}

/// Transforms each element of an array with a procedure of its own, side by side.
///
/// ```swift
/// let thumbnails = BatchProcedure { Resize(to: .thumbnail) }
/// thumbnails.maxConcurrentChildCount = 4
/// thumbnails.injectResult(from: photos)
/// ```
///
/// A group: when it executes, a child is made for each element of the input. The output has their
/// outputs, in the order of the input. If one of them fails, is cancelled or has no output, there
/// is no output, and the group has the child's errors; the others go on, as in any group. A child that
/// the closure gives no name has that of its type and its place in the input, so that errors say which it
/// was: `Resize[3]`. Without an input when it executes, it is cancelled with
/// `ProcedureError.Code.requirementNotSatisfied`.
nonisolated open class BatchProcedure<Transform: InputProcedure & OutputProcedure>: GroupProcedure,
  InputProcedure, OutputProcedure, @unchecked Sendable
{
  /// The inputs of the transforms.
  public typealias Input = [Transform.Input]
  /// The outputs of the transforms.
  public typealias Output = [Transform.Output]

  /// Belongs to the turn, which releases it.
  @safe @exclusivity(unchecked) private final var makeTransform: (@Sendable () -> Transform)?

  /// Makes a batch.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - transform: makes the procedure for an element. Called once for each, in order, when the
  ///     batch executes, and released then.
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

  final override func releaseWork() {
    super.releaseWork()
    makeTransform = nil
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
        guard case .succeeded? = transform.outcome, case .success(let element)? = transform.result
        else { return }
        if outputs.set(element, at: index) { self?.output = .success(outputs.takeAll()) }
      }
      add(child: transform)
    }
  }
}

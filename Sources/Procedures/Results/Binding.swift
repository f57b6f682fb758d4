extension InputProcedure {
  /// Makes the input of this procedure the input of `target`, for example a group's input that of a
  /// child.
  ///
  /// ```swift
  /// final class Thumbnail: GroupProcedure, InputProcedure, @unchecked Sendable {
  ///   typealias Input = Image
  ///
  ///   init() {
  ///     let resize = Resize()
  ///     super.init(children: [resize])
  ///     bind(to: resize)
  ///   }
  /// }
  /// ```
  ///
  /// The input is set when this procedure is about to execute, and also at once if it is already
  /// known. A binding is not a dependency: `target` must execute later, as a child of this
  /// procedure does. Neither procedure retains the other.
  public func bind<Target: InputProcedure>(to target: Target) where Target.Input == Input {
    if let input { target.input = input }
    addWillExecuteBlockObserver { [weak target] source, _ in
      if let input = source.input { target?.input = input }
    }
  }
}

extension OutputProcedure {
  /// Makes the output of `source` the output of this procedure, for example a child's output that
  /// of its group.
  ///
  /// The output is set when `source` has finished, if it has one. A binding is not a dependency:
  /// this procedure must finish later, as a group does. `source` does not retain this procedure.
  public func bind<Source: OutputProcedure>(from source: Source) where Source.Output == Output {
    source.addDidFinishBlockObserver { [weak self] source, _ in
      if let result = source.result { self?.output = result }
    }
  }
}

extension InputProcedure {
  /// Gives `target` the input of this procedure: a child the input of its group, for example.
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
  /// It is handed on when this procedure is about to execute, and at once if it is there already.
  /// A binding is no dependency: `target` must not execute before, as a child of this one does not.
  /// Neither keeps the other alive.
  public func bind<Target: InputProcedure>(to target: Target) where Target.Input == Input {
    if let input { target.input = input }
    addWillExecuteBlockObserver { [weak target] source, _ in
      if let input = source.input { target?.input = input }
    }
  }
}

extension OutputProcedure {
  /// Makes the output of `source` the output of this procedure: a child's the output of its group,
  /// for example.
  ///
  /// It is taken when `source` has finished, if it has one. A binding is no dependency: this
  /// procedure must finish later, as a group does. `source` does not keep this procedure alive.
  public func bind<Source: OutputProcedure>(from source: Source) where Source.Output == Output {
    source.addDidFinishBlockObserver { [weak self] source, _ in
      if let result = source.result { self?.output = result }
    }
  }
}

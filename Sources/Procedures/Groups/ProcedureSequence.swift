/// Procedures that run one step after the other, as `then` makes them.
///
/// A sequence of the procedures, in the order of the steps: for a queue, a group, or a
/// `ProcedureBuilder`.
///
/// ```swift
/// queue.add(fetch.then(parse, index).then(report))
/// ```
public struct ProcedureSequence: Sequence, Sendable {
  fileprivate let procedures: [Procedure]
  fileprivate let last: [Procedure]

  /// Adds a step: each of `next` waits until all of the step before have finished.
  ///
  /// - Parameters:
  ///   - next: what runs then, side by side.
  ///   - requirement: how the step before must have ended; nothing unless you say so.
  public func then(
    _ next: Procedure..., requiring requirement: DependencyRequirement = .any
  ) -> ProcedureSequence {
    then(next, requiring: requirement)
  }

  /// Adds a step of the procedures in an array; none change nothing. See `then(_:requiring:)`.
  public func then(
    _ next: [Procedure], requiring requirement: DependencyRequirement = .any
  ) -> ProcedureSequence {
    if next.isEmpty { return self }
    for procedure in next {
      for dependency in last { procedure.add(dependency: dependency, requiring: requirement) }
    }
    return ProcedureSequence(procedures: procedures + next, last: next)
  }

  /// The procedures, in the order of the steps.
  public func makeIterator() -> Array<Procedure>.Iterator { procedures.makeIterator() }
}

extension Procedure {
  /// Makes others wait until this one has finished; chainable.
  ///
  /// ```swift
  /// GroupProcedure {
  ///   download.then(resize, index).then(upload)
  /// }
  /// ```
  ///
  /// Each of `next` depends on this procedure, as by `add(dependency:requiring:)`. Nothing is added
  /// to a queue or group: the result is the sequence of all of them, to add.
  ///
  /// - Parameters:
  ///   - next: what runs then, side by side.
  ///   - requirement: how this one must have ended; nothing unless you say so.
  public final func then(
    _ next: Procedure..., requiring requirement: DependencyRequirement = .any
  ) -> ProcedureSequence {
    then(next, requiring: requirement)
  }

  /// Makes a sequence of this procedure and those in an array, which wait for it. See `then(_:requiring:)`.
  ///
  /// ```swift
  /// configure.then(sources.map { Compile($0) }).then(link)
  /// ```
  public final func then(
    _ next: [Procedure], requiring requirement: DependencyRequirement = .any
  ) -> ProcedureSequence {
    ProcedureSequence(procedures: [self], last: [self]).then(next, requiring: requirement)
  }
}

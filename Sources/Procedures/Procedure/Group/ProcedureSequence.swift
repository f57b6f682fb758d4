/// Procedures that run in steps, made by `then`.
///
/// It is a sequence of the procedures, in the order of the steps, for a queue, a group or a
/// `ProcedureBuilder`.
///
/// ```swift
/// queue.add(fetch.then(parse, index).then(report))
/// ```
public struct ProcedureSequence: Sequence, Sendable {
  fileprivate let procedures: [Procedure]
  fileprivate let last: [Procedure]

  /// Adds a step: each of `next` waits until all procedures of the previous step have finished.
  ///
  /// - Parameters:
  ///   - next: the next step's procedures, which run side by side.
  ///   - requirement: how the previous step must have ended; by default in any way.
  public func then(
    _ next: Procedure..., requiring requirement: DependencyRequirement = .any
  ) -> ProcedureSequence {
    then(next, requiring: requirement)
  }

  /// Adds a step of the procedures in an array; an empty one changes nothing. See
  /// `then(_:requiring:)`.
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
  /// Makes other procedures wait until this one has finished. Calls can be chained.
  ///
  /// ```swift
  /// GroupProcedure {
  ///   download.then(resize, index).then(upload)
  /// }
  /// ```
  ///
  /// Each of `next` depends on this procedure, as with `add(dependency:requiring:)`. The call adds
  /// nothing to a queue or a group: add the sequence that it returns.
  ///
  /// - Parameters:
  ///   - next: the next step's procedures, which run side by side.
  ///   - requirement: how this procedure must have ended; by default in any way.
  public final func then(
    _ next: Procedure..., requiring requirement: DependencyRequirement = .any
  ) -> ProcedureSequence {
    then(next, requiring: requirement)
  }

  /// Makes the procedures in an array wait until this one has finished. See `then(_:requiring:)`.
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

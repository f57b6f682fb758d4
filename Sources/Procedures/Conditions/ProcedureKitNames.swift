// The conditions as ProcedureKit calls them.

/// `NoFailedDependencies`, as ProcedureKit calls it.
public typealias NoFailedDependenciesCondition = NoFailedDependencies
/// `And`, as ProcedureKit calls it.
public typealias AndCondition = And
/// `Or`, as ProcedureKit calls it.
public typealias OrCondition = Or
/// `Not`, as ProcedureKit calls it.
public typealias NegatedCondition = Not
/// `Ignored`, as ProcedureKit calls it.
public typealias IgnoredCondition = Ignored
/// `Silent`, as ProcedureKit calls it.
public typealias SilentCondition = Silent

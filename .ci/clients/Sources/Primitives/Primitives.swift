import ProcedureKitNames
public import Procedures

/// A type of the client's own, in a module of a common name.
public struct Repeat: Sendable {
  /// Makes it.
  public init() {}

  /// Makes a procedure of the framework's.
  public func make() -> RepeatProcedure<BlockProcedure> {
    RepeatProcedure(max: 2) { BlockProcedure {} }
  }
}

/// The name of a type, as `String(describing:)` has it, without the modules.
///
/// That looks for a description of the metatype first, and takes some fifty times as long.
public func typeName(_ type: Any.Type) -> String { _typeName(type, qualified: false) }

/// The name of a type without modules, like `String(describing:)`.
///
/// `String(describing:)` first looks for a description of the metatype, and takes some fifty times
/// as long.
public func typeName(_ type: Any.Type) -> String { _typeName(type, qualified: false) }

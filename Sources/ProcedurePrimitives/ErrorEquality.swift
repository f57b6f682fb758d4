/// Whether two errors are equal: of the same type, and `==` says so. If the type has no `==`,
/// objects are equal if they are identical, and values if their descriptions are equal.
public func areEqual(_ left: any Error, _ right: any Error) -> Bool {
  guard type(of: left) == type(of: right) else { return false }
  if let left = left as? any Equatable { return isEqual(left, right) }
  if type(of: left) is AnyClass { return (left as AnyObject) === (right as AnyObject) }
  return String(reflecting: left) == String(reflecting: right)
}

private func isEqual<Value: Equatable>(_ left: Value, _ right: any Error) -> Bool {
  left == right as? Value
}

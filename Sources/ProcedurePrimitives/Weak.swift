/// A reference that does not keep its object alive, for `Sendable` types.
///
/// Not `weak let`, which says the same of a property: the compilers before Swift 6.2.3 refuse it.
public struct Weak<Object: AnyObject> {
  /// The object, or nil once it is released.
  public private(set) weak var object: Object?

  /// Makes a reference to `object`.
  public init(_ object: Object) { self.object = object }
}

extension Weak: Sendable where Object: Sendable {}

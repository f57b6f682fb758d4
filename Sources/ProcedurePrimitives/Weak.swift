/// A reference that does not keep its object alive, for `Sendable` types.
///
/// Compilers before Swift 6.2.3 refuse `weak let`, which would replace it.
public struct Weak<Object: AnyObject> {
  /// The object, or nil once it is deallocated.
  public private(set) weak var object: Object?

  /// Makes a reference to `object`.
  public init(_ object: Object) { self.object = object }
}

extension Weak: Sendable where Object: Sendable {}

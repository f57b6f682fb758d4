/// An `OptionSet` of eight flags at most, whose operations use its bits.
///
/// In unoptimised code `SetAlgebra` needs a dozen generic calls to find one flag. A program in
/// debug mode would spend a twentieth of its scheduling there, so these functions are inlined even
/// then.
public protocol BitFlags: OptionSet, Sendable where RawValue == UInt8 {}

extension BitFlags {
  /// Whether no flag is set.
  @_transparent
  public var isEmpty: Bool { rawValue == 0 }

  /// Whether all flags of `other` are set.
  @_transparent
  public func contains(_ other: Self) -> Bool { rawValue & other.rawValue == other.rawValue }

  /// Whether no flag of `other` is set.
  @_transparent
  public func isDisjoint(with other: Self) -> Bool { rawValue & other.rawValue == 0 }

  /// Sets the flags of `new`.
  ///
  /// - Returns: whether one of them was not set before.
  @_transparent
  @discardableResult
  public mutating func insert(
    _ new: Self
  ) -> (inserted: Bool, memberAfterInsert: Self) {
    let old = rawValue
    self = Self(rawValue: old | new.rawValue)
    return (old & new.rawValue != new.rawValue, new)
  }

  /// Clears the flags of `other`.
  ///
  /// - Returns: the flags that were set of them; nil if none was.
  @_transparent
  @discardableResult
  public mutating func remove(_ other: Self) -> Self? {
    let removed = rawValue & other.rawValue
    guard removed != 0 else { return nil }
    self = Self(rawValue: rawValue & ~other.rawValue)
    return Self(rawValue: removed)
  }

  /// Sets the flags of `other`, too.
  @_transparent
  public mutating func formUnion(_ other: Self) {
    self = Self(rawValue: rawValue | other.rawValue)
  }
}

public import Synchronization

/// A value that a lock elsewhere guards. Only code that has a proof that the lock is held can reach
/// the value, which the compiler checks.
///
/// `Proof` is a type without copies, of which the owner of the lock makes one value and lends it to
/// its critical sections. Neither the value nor an access costs more than a stored property without
/// exclusivity checks.
///
/// The proof says that a lock of that kind is held, not which: whoever makes a `Guarded` says which
/// one guards it.
@safe
public struct Guarded<Value: BitwiseCopyable, Proof: ~Copyable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let cell: _Cell<Value>
  /// The explorer's count of uses of the value.
  @usableFromInline let uses: UseCount

  /// Makes a value.
  ///
  /// - Parameter data: names the value in the report of a race.
  @inlinable @inline(__always)
  public init(_ value: consuming Value, of data: StaticString) {
    cell = _Cell(value)
    uses = UseCount(of: data)
  }

  /// The address of the value, which the caller uses only as long as it has the proof, and for one
  /// access at a time.
  @unsafe @inlinable @inline(__always)
  public borrowing func address(with proof: borrowing Proof) -> UnsafeMutablePointer<Value> {
    unsafe addressWithoutProof
  }

  /// The address, for accessors of the proof itself: a closure that captures the proof, which has
  /// no copies, is not inlined.
  @unsafe @inlinable
  public var addressWithoutProof: UnsafeMutablePointer<Value> {
    @inline(__always) get {
      uses.note()
      return unsafe cell._address
    }
  }

  /// Records for the explorer that the owner of the value is being deallocated: nobody else can
  /// use the value.
  @inlinable @inline(__always)
  public borrowing func noteLast() { uses.noteLast() }
}

/// A value that only one thread at a time can reach, for short work that many threads want to do.
///
/// Like `Locked`, with a lock that is not handed over on Linux: see `OwnedLock`.
///
/// No user code, no continuation and no closure's release may run inside `withLock`. `-DMODEL`
/// makes each acquisition a scheduling point of the schedule explorer, and `-DCHAOS` each step a
/// place where the thread may sleep.
public struct Contended<Value: ~Copyable>: ~Copyable, Sendable {
  // The lock and its value are in an object of their own, not in the owner: threads that read the
  // owner, or use something else in it, would lose its cache line each time a thread acquires the
  // lock.
  @usableFromInline let contents: ContendedContents<Value>

  /// Makes a lock around `value`.
  @inlinable
  public init(_ value: consuming sending Value) {
    contents = ContendedContents(value)
  }

  /// Runs `body` with exclusive access to the value.
  @inlinable
  public borrowing func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    contents.lock.acquire()
    defer { contents.lock.release() }
    return try body(&contents.value)
  }

  /// Stops a debug build if the calling thread does not hold the lock. Does nothing in a release
  /// build.
  @inlinable @inline(__always)
  public borrowing func assertHeld() { contents.lock.assertHeld() }
}

@usableFromInline
final class ContendedContents<Value: ~Copyable>: @unchecked Sendable {
  @usableFromInline let lock = OwnedLock()
  /// `lock` guards it: only `withLock` reaches it.
  @safe @exclusivity(unchecked) @usableFromInline var value: Value

  @inlinable
  init(_ value: consuming sending Value) {
    self.value = value
  }
}

/// A value that only one thread at a time can reach, for short work that many threads want to do.
///
/// What `Locked` is, with a lock that is not handed over on Linux: see `OwnedLock`.
///
/// No user code, no continuation and no closure's release may run inside `withLock`. `-DMODEL` makes
/// each acquisition a scheduling point of the schedule explorer, and `-DCHAOS` each step a place where
/// the thread may sleep.
@safe public struct Contended<Value>: ~Copyable, @unchecked Sendable {
  // The lock lies with its value, in one block of memory, and not in the object that owns
  // this: threads that only read that object, or use something else in it, would lose its cache
  // line each time a thread enters here.
  @usableFromInline let lock: UnsafeMutablePointer<OwnedLock>
  @usableFromInline let value: UnsafeMutablePointer<Value>

  /// Makes a lock around `value`.
  @inlinable
  public init(_ value: consuming sending Value) {
    let alignment = max(MemoryLayout<OwnedLock>.alignment, MemoryLayout<Value>.alignment)
    let offset = (MemoryLayout<OwnedLock>.size + alignment - 1) / alignment * alignment
    let block = UnsafeMutableRawPointer.allocate(
      byteCount: offset + MemoryLayout<Value>.size, alignment: alignment)
    unsafe lock = block.bindMemory(to: OwnedLock.self, capacity: 1)
    unsafe lock.initialize(to: OwnedLock())
    unsafe self.value = (block + offset).bindMemory(to: Value.self, capacity: 1)
    unsafe self.value.initialize(to: value)
  }

  deinit {
    unsafe value.deinitialize(count: 1)
    unsafe lock.deinitialize(count: 1)
    unsafe UnsafeMutableRawPointer(lock).deallocate()
  }

  /// Runs `body` with exclusive access to the value.
  @inlinable
  public borrowing func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    // The change is in the memory that it points to: ThreadSanitizer would take it for a change of `self.value`.
    let value = unsafe self.value
    unsafe lock.pointee.acquire()
    defer { unsafe lock.pointee.release() }
    return try unsafe body(&value.pointee)
  }
}

public import Synchronization

/// A value that only one thread at a time can reach: the lock to use unless another fits better.
/// `Contended` is for a value that many threads want all the time, `LockByte` also publishes a
/// byte, `OwnedLock` costs least.
///
/// No user code, no continuation and no closure's release may run inside `withLock`: the state
/// machines return the work to be done, and the caller does it after the release.
///
/// Build flags, none of which is set in ordinary builds:
/// - `-DTSAN` tells ThreadSanitizer about acquire and release. On Linux it cannot see into `Mutex`
///   and would report races that are not there.
/// - `-DMODEL` makes each acquisition a scheduling point of the schedule explorer, and `-DCHAOS` a
///   place where the thread may sleep.
/// - `-DCONTENTION` counts the acquisitions that had to wait: see `Contention.swift`.
public struct Locked<Value: ~Copyable>: ~Copyable {
  @usableFromInline let mutex: Mutex<Value>

  #if TSAN
    @usableFromInline let fence = SanitizerFence()
  #endif
  #if MODEL || CHAOS
    @usableFromInline let identity = ModelLock()
  #endif
  /// The explorer's count of uses of the value.
  @usableFromInline let uses = UseCount(of: "the value of a Locked")

  /// Makes a lock around `value`.
  @inlinable
  public init(_ value: consuming sending Value) {
    mutex = Mutex(value)
  }

  /// Runs `body` with exclusive access to the value.
  @inlinable
  public borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    #if MODEL || CHAOS
      identity.acquire()
      defer { identity.release() }
    #endif
    uses.note()
    #if TSAN
      return try mutex.withLock { value throws(Failure) in
        fence.acquire()
        defer { fence.release() }
        return try body(&value)
      }
    #elseif CONTENTION
      if let result = try mutex.withLockIfAvailable(body) { return result }
      Contention.noteWait()
      return try mutex.withLock(body)
    #else
      return try mutex.withLock(body)
    #endif
  }
}

extension Locked: Sendable where Value: ~Copyable {}

#if TSAN
  @_silgen_name("__tsan_acquire")
  @usableFromInline func sanitizerAcquire(_ address: UnsafeMutableRawPointer)

  @_silgen_name("__tsan_release")
  @usableFromInline func sanitizerRelease(_ address: UnsafeMutableRawPointer)

  /// One byte whose address stands for a lock in ThreadSanitizer's happens-before graph. No code
  /// reads or writes it.
  @safe @usableFromInline
  final class SanitizerFence: @unchecked Sendable {
    @usableFromInline let address: UnsafeMutableRawPointer

    @usableFromInline init() {
      unsafe address = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
    }

    deinit { unsafe address.deallocate() }

    @usableFromInline func acquire() { unsafe sanitizerAcquire(address) }
    @usableFromInline func release() { unsafe sanitizerRelease(address) }
  }
#endif

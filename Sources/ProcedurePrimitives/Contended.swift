internal import Dispatch
public import Synchronization

/// A value that only one thread at a time can reach, for short work that many threads want to do.
///
/// What `Locked` is, but when it is released, the first thread that asks acquires it, not the one
/// that waited longest: on Linux `Mutex` hands itself over to a thread that may be asleep, and once
/// two threads want it for each of many short steps, every step becomes a switch of threads. Here a
/// thread that finds it held looks again for a while, and then sleeps until it is woken.
///
/// No user code, no continuation and no closure's release may run inside `withLock`. `-DMODEL` makes
/// each acquisition a scheduling point of the schedule explorer.
@safe public struct Contended<Value>: ~Copyable, @unchecked Sendable {
  // The gate lies with what it guards, in one block of memory, and not in the object that owns
  // this: threads that only read that object, or use something else in it, would lose its cache
  // line each time a thread enters here.
  @usableFromInline let gate: UnsafeMutablePointer<Gate>
  @usableFromInline let value: UnsafeMutablePointer<Value>

  #if MODEL
    @usableFromInline let identity = ModelLock()
  #endif

  /// Makes a lock around `value`.
  @inlinable
  public init(_ value: consuming sending Value) {
    let alignment = max(MemoryLayout<Gate>.alignment, MemoryLayout<Value>.alignment)
    let offset = (MemoryLayout<Gate>.size + alignment - 1) / alignment * alignment
    let block = UnsafeMutableRawPointer.allocate(
      byteCount: offset + MemoryLayout<Value>.size, alignment: alignment)
    unsafe gate = block.bindMemory(to: Gate.self, capacity: 1)
    unsafe gate.initialize(to: Gate())
    unsafe self.value = (block + offset).bindMemory(to: Value.self, capacity: 1)
    unsafe self.value.initialize(to: value)
  }

  deinit {
    unsafe value.deinitialize(count: 1)
    unsafe gate.deinitialize(count: 1)
    unsafe UnsafeMutableRawPointer(gate).deallocate()
  }

  /// Runs `body` with exclusive access to the value.
  @inlinable
  public borrowing func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    #if MODEL
      identity.acquire()
      defer { identity.release() }
    #endif
    // What is changed is what it points to: ThreadSanitizer would take it for a change of `self.value`.
    let value = unsafe self.value
    unsafe gate.pointee.enter()
    defer { unsafe gate.pointee.leave() }
    return try unsafe body(&value.pointee)
  }
}

/// One thread at a time is inside.
///
/// | bits       | meaning                                                    |
/// |------------|------------------------------------------------------------|
/// | `occupied` | a thread is inside                                         |
/// | `woken`    | a sleeping thread has been woken, and will look again      |
/// | the others | how many threads sleep, or are about to                    |
///
/// Invariant: a thread that leaves while others sleep, and none is woken, wakes one. So a wake-up
/// is neither lost nor wasted, and at most one is under way.
@usableFromInline
struct Gate: ~Copyable, Sendable {
  @usableFromInline static let occupied: UInt32 = 1
  private static let woken: UInt32 = 2
  private static let sleeper: UInt32 = 4
  /// How often to look before sleeping: some microseconds, and longer than any thread is inside.
  private static let patience = 500

  @usableFromInline let state = Atomic<UInt32>(0)
  /// Made by the first thread that is about to sleep, or to wake one: most gates need none.
  private let storedAlarm = AtomicLazyReference<DispatchSemaphore>()

  @usableFromInline
  init() {}

  private var alarm: DispatchSemaphore {
    storedAlarm.load() ?? storedAlarm.storeIfNil(DispatchSemaphore(value: 0))
  }

  @inlinable @inline(__always)
  borrowing func enter() {
    let (isInside, _) = state.weakCompareExchange(
      expected: 0, desired: Self.occupied, successOrdering: .acquiring, failureOrdering: .relaxed)
    if !isInside { enterSlowly() }
  }

  @inlinable @inline(__always)
  borrowing func leave() {
    let before = state.bitwiseAnd(~Self.occupied, ordering: .releasing).oldValue
    if before != Self.occupied { wake() }
  }

  @usableFromInline @inline(never)
  borrowing func enterSlowly() {
    for _ in 0..<Self.patience where enterIfFree() { return }
    state.wrappingAdd(Self.sleeper, ordering: .relaxed)
    while !enterIfFree(leaving: Self.sleeper) {
      alarm.wait()
      state.bitwiseAnd(~Self.woken, ordering: .relaxed)
    }
  }

  /// - Parameter registration: what to take off the count in the same step.
  private borrowing func enterIfFree(leaving registration: UInt32 = 0) -> Bool {
    var current = state.load(ordering: .relaxed)
    while current & Self.occupied == 0 {
      let (isInside, found) = state.weakCompareExchange(
        expected: current, desired: (current | Self.occupied) - registration,
        successOrdering: .acquiring, failureOrdering: .relaxed)
      if isInside { return true }
      current = found
    }
    return false
  }

  /// The caller has left while another thread slept, or was about to.
  @usableFromInline @inline(never)
  borrowing func wake() {
    var current = state.load(ordering: .relaxed)
    // A thread that is inside by now will wake one when it leaves.
    while current >= Self.sleeper, current & (Self.woken | Self.occupied) == 0 {
      let (isOurs, found) = state.weakCompareExchange(
        expected: current, desired: current | Self.woken, successOrdering: .relaxed,
        failureOrdering: .relaxed)
      if isOurs {
        alarm.signal()
        return
      }
      current = found
    }
  }
}

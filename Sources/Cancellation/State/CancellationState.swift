public import Dispatch
public import ProcedurePrimitives

/// The state that a source and its tokens share.
///
/// Unchecked because the lock guards the machine.
///
/// Invariants:
/// 1. `status` is written under the lock, and once it is not `pending` it reads the same forever.
/// 2. At most one lock of this type is held at a time, so there is no order to get wrong.
/// 3. Handlers are called, and everything they captured is released, with no lock held.
/// 4. A linked child is alive: its source unlinks it before releasing the state. A combined or
///    mapped token is held weakly by its operands, holds them, and leaves them in its `deinit`.
/// 5. No walk recurses, and no release does: a tree may be a list of a hundred thousand.
@usableFromInline
final class CancellationState: @unchecked Sendable {
  /// Bit 0 says "cancelled".
  enum Status {
    static let pending: UInt8 = 0
    static let cancelled: UInt8 = 1
    static let notCancelled: UInt8 = 2
    /// Cancelled, while the rest of the tree is being marked.
    static let cancelledMarking: UInt8 = 3
  }

  /// Guards the machine. Threads poll `status`, which only changes when the token does (K2).
  ///
  /// Declared before `status`, which fits into the rest of its eight bytes.
  private let lock = OwnedLock()

  @usableFromInline let status: AtomicByte

  /// Guarded by `lock`: see `withMachine`.
  @safe @exclusivity(unchecked) private var machine = CancellationStateMachine()

  init() {
    status = AtomicByte(Status.pending)
  }

  /// Runs `body` with the lock held. It must call no user code and release no user object.
  @inline(__always)
  func withMachine<Result>(_ body: (inout CancellationStateMachine) -> Result) -> Result {
    lock.acquire()
    defer { lock.release() }
    return body(&machine)
  }

  convenience init(cancelledBecauseOf reason: CancellationReason) {
    self.init()
    settle(.cancelled(reason))
  }

  @inlinable @inline(__always)
  var isCancelled: Bool { status.load() & 1 != 0 }

  @inlinable @inline(__always)
  var isSettled: Bool { status.load() != 0 }

  /// Nil while pending.
  var outcome: CancellationOutcome? { isSettled ? withMachine { $0.outcome } : nil }

  deinit {
    // Only a state without a source is still pending here: a deadline, a combination, a map. A
    // settled state has left already.
    if isSettled { return }
    var links = withMachine { $0.links.take() }
    if links.parents.isEmpty { return links.leave() }
    // Leaving releases the parents and the captures of their closures. The closure below takes the
    // links out of the box, because its own captures are released after the nested releases.
    let box = Locked(links.take())
    NestedReleases.run {
      var links = box.withLock { $0.take() }
      links.leave()
    }
  }

  // MARK: Handlers

  @usableFromInline
  func register(_ handler: @escaping @Sendable () -> Void, on queue: DispatchQueue?) -> SlabKey? {
    guard let queue else { return register(.cancel(handler)) }
    return register(.cancel { queue.async(execute: handler) })
  }

  /// Nil if the handler was called or skipped at once.
  func register(_ handler: CancellationEntry) -> SlabKey? {
    if status.load() == Status.pending {
      let (admission, garbage) = withMachine { machine in
        let admission = machine.register(handler)
        guard case .kept = admission, machine.links.extras != nil || handler.isWeakTarget else {
          return (admission, SweptTargets?.none)
        }
        return (admission, noteKept(handler, &machine))
      }
      if garbage?.isToBeListed == true { listAsWeaklyObserved() }
      _ = consume garbage
      if case .kept(let key) = admission { return key }
    }
    waitWhileMarking()
    handler.call(cancelled: isCancelled)
    return nil
  }

  @usableFromInline
  func unregister(_ key: SlabKey) -> Bool {
    let (handler, keepsItself) = withMachine { machine in
      let handler = machine.unregister(key)
      return (handler, machine.links.extras == nil ? nil : machine.noteRemoved(handler))
    }
    _ = keepsItself
    return handler != nil
  }

  /// A late caller must not run ahead of the walk that marks the tree (K6).
  func waitWhileMarking() {
    marking?.wait()
  }

  /// The walk that marks this state, if it may still be running.
  var marking: TreeMarking? {
    guard status.load() == Status.cancelledMarking else { return nil }
    return withMachine { machine in
      if case .marked(_, let marking) = machine.phase { marking } else { nil }
    }
  }

  /// References from a sweep, to be released after the lock.
  private struct SweptTargets: Sendable {
    var dead: [CancellationEntry] = []
    var live: [any Cancelable] = []
    var isToBeListed = false
  }

  private func noteKept(
    _ handler: CancellationEntry, _ machine: inout CancellationStateMachine
  ) -> SweptTargets? {
    let extras = machine.links.madeExtras()
    if extras.ownsItselfWhileObserved { extras.keepsItself = self }
    guard handler.isWeakTarget else { return nil }
    var swept = SweptTargets()
    if extras.ownsItselfWhileObserved, case .none = extras.listing {
      extras.listing = .underWay
      swept.isToBeListed = true
    }
    extras.weakTargets += 1
    guard extras.weakTargets >= extras.sweepAt else { return swept.isToBeListed ? swept : nil }
    // Amortised O(1): the next sweep comes when as many targets have been added as are alive now.
    (swept.dead, swept.live) = machine.removeDeadTargets()
    extras.weakTargets = swept.live.count
    extras.sweepAt = max(32, swept.live.count * 2)
    return swept
  }

  private func listAsWeaklyObserved() {
    let key = WeaklyObserved.tokens.add(self)
    let isPending = withMachine { machine in
      guard machine.isPending, let extras = machine.links.extras else { return false }
      extras.listing = .at(key)
      return true
    }
    // The state has ended in between, and left everything but this list.
    if !isPending { WeaklyObserved.tokens.remove(key) }
  }

  /// Removes handlers whose target was deallocated. Without handlers the token stops keeping itself
  /// alive.
  func dropDeadTargets() {
    let garbage = withMachine { machine -> (SweptTargets, CancellationState?)? in
      guard machine.isPending, let extras = machine.links.extras else { return nil }
      let (dead, live) = machine.removeDeadTargets()
      extras.weakTargets = live.count
      return (
        SweptTargets(dead: dead, live: live),
        machine.hasHandlers ? nil : extras.keepsItself.take()
      )
    }
    _ = garbage
  }
}

extension CancellationStateMachine {
  /// Notes that a handler was removed. Returns the state if it was the last one that kept it alive.
  fileprivate mutating func noteRemoved(_ handler: CancellationEntry?) -> CancellationState? {
    guard let handler, let extras = links.extras else { return nil }
    if handler.isWeakTarget { extras.weakTargets -= 1 }
    return hasHandlers ? nil : extras.keepsItself.take()
  }
}

extension CancellationState: Hashable {
  @usableFromInline
  static func == (left: CancellationState, right: CancellationState) -> Bool { left === right }

  @usableFromInline
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

public import Dispatch
public import ProcedurePrimitives

/// The state that a source and its tokens share. Unchecked because `lock` guards the machine.
///
/// Invariants:
/// 1. `status` is written under the lock, and once it is not `pending` it reads the same for ever.
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

  @usableFromInline let status: AtomicByte

  /// Guards the machine. It publishes nothing: `status` is a byte of its own, which no lock is taken in, so
  /// that a thread that polls it is not in the way of those that register, nor they in its (K2).
  private let lock: LockByte

  /// Used by `withMachine` only.
  @safe @exclusivity(unchecked) private var machine = CancellationStateMachine()

  init() {
    status = AtomicByte(Status.pending)
    lock = LockByte(0)
  }

  /// Runs `body` with the lock held. It must neither call nor release anything of the user.
  @inline(__always)
  func withMachine<Result>(_ body: (inout CancellationStateMachine) -> Result) -> Result {
    let nothing = lock.acquire()
    let result = body(&machine)
    lock.release(publishing: nothing)
    return result
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
    // Pending only if it has no source: a deadline, a combination, a map. One that is settled has
    // left already.
    if isSettled { return }
    guard let links = withMachine({ $0.links.take() }) else { return }
    if links.parents.isEmpty { return links.leave() }
    // What their closures captured is released with the places on them.
    NestedReleases.run { links.leave() }
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
        guard case .kept = admission, machine.links != nil || handler.isWeakTarget else {
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

  func unregister(_ key: SlabKey) -> Bool {
    let (handler, keepsItself) = withMachine { machine in
      let handler = machine.unregister(key)
      guard let handler, let links = machine.links else {
        return (handler, CancellationState?.none)
      }
      if handler.isWeakTarget { links.weakTargets -= 1 }
      return (handler, machine.hasHandlers ? nil : links.keepsItself.take())
    }
    _ = keepsItself
    return handler != nil
  }

  /// A late caller must not run ahead of the walk that marks the tree (K6).
  func waitWhileMarking() {
    guard status.load() == Status.cancelledMarking else { return }
    let marking: TreeMarking? = withMachine { machine in
      if case .marked(_, let marking) = machine.phase { marking } else { nil }
    }
    marking?.wait()
  }

  /// What a sweep leaves to be released after the lock.
  private struct SweptTargets: Sendable {
    var dead: [CancellationEntry] = []
    var live: [any Cancelable] = []
    var isToBeListed = false
  }

  private func noteKept(
    _ handler: CancellationEntry, _ machine: inout CancellationStateMachine
  ) -> SweptTargets? {
    let links = machine.madeLinks()
    if links.ownsItselfWhileObserved { links.keepsItself = self }
    guard handler.isWeakTarget else { return nil }
    var swept = SweptTargets()
    if links.ownsItselfWhileObserved, case .none = links.listing {
      links.listing = .underWay
      swept.isToBeListed = true
    }
    links.weakTargets += 1
    guard links.weakTargets >= links.sweepAt else { return swept.isToBeListed ? swept : nil }
    // Amortised O(1): the next sweep comes when as many have been added as are now alive.
    (swept.dead, swept.live) = machine.removeDeadTargets()
    links.weakTargets = swept.live.count
    links.sweepAt = max(32, swept.live.count * 2)
    return swept
  }

  private func listAsWeaklyObserved() {
    let key = WeaklyObserved.tokens.add(self)
    let isPending = withMachine { machine in
      guard machine.isPending, let links = machine.links else { return false }
      links.listing = .at(key)
      return true
    }
    // Ended in between, and left everything but this.
    if !isPending { WeaklyObserved.tokens.remove(key) }
  }

  /// Takes out handlers whose target is gone; without a handler the token does not keep itself.
  func dropDeadTargets() {
    let garbage = withMachine { machine -> (SweptTargets, CancellationState?)? in
      guard machine.isPending, let links = machine.links else { return nil }
      let (dead, live) = machine.removeDeadTargets()
      links.weakTargets = live.count
      return (
        SweptTargets(dead: dead, live: live),
        machine.hasHandlers ? nil : links.keepsItself.take()
      )
    }
    _ = garbage
  }
}

extension CancellationState: Hashable {
  @usableFromInline
  static func == (left: CancellationState, right: CancellationState) -> Bool { left === right }

  @usableFromInline
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension CancellationStateMachine {
  /// The links, allocated if this is the first.
  mutating func madeLinks() -> CancellationLinks {
    if let links { return links }
    let made = CancellationLinks()
    links = made
    return made
  }
}

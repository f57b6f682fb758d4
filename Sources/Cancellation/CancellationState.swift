internal import Primitives

/// The state that a source and its tokens share.
///
/// Invariants:
/// 1. `status` is written under the lock and never changes once it is not `pending`.
/// 2. At most one lock of this type is held at a time, so there is no order to get wrong.
/// 3. Handlers are called, and everything they captured is released, with no lock held.
/// 4. A linked child is alive: its source unlinks it before letting go of the state.
/// 5. No walk recurses: a tree may be a list of a hundred thousand.
final class CancellationState: Sendable {
  private enum Status {
    static let pending: UInt8 = 0
    static let cancelled: UInt8 = 1
    static let notCancelled: UInt8 = 2
  }

  private let status: AtomicByte
  private let machine = Locked(CancellationStateMachine())

  init() {
    status = AtomicByte(Status.pending)
  }

  convenience init(cancelledBecauseOf reason: CancellationReason) {
    self.init()
    cancel(reason)
  }

  var isCancelled: Bool { status.load() == Status.cancelled }
  var isSettled: Bool { status.load() != Status.pending }
  var reason: CancellationReason? { isCancelled ? machine.withLock { $0.reason } : nil }

  deinit {
    // Only a token with a deadline and no source gets here pending.
    guard let deadline = machine.withLock({ $0.links?.deadline }) else { return }
    if let key = deadline.key { deadline.clock.service.cancel(key) }
  }

  // MARK: Handlers

  func register(_ handler: CancellationHandler) -> CancellationRegistration {
    let (registration, garbage) = machine.withLock { machine in
      let registration = machine.register(handler)
      guard case .kept = registration, machine.links != nil || handler.isWeak else {
        return (registration, CancellationState.Garbage.none)
      }
      return (registration, noteKept(handler, &machine))
    }
    _ = consume garbage
    switch registration {
    case .kept(let key):
      return CancellationRegistration(state: self, key: key)
    case .callNow(let cancelled):
      handler.call(cancelled: cancelled)
      return .inert
    }
  }

  func unregister(_ key: SlabKey) -> Bool {
    let (handler, keepsItself) = machine.withLock { machine in
      let handler = machine.unregister(key)
      guard let handler, machine.links != nil else { return (handler, CancellationState?.none) }
      if handler.isWeak { machine.links?.weakTargets -= 1 }
      return (handler, machine.hasHandlers ? nil : machine.links?.keepsItself.take())
    }
    _ = keepsItself
    return handler != nil
  }

  /// What a critical section leaves to be released after it.
  private enum Garbage: Sendable {
    case none
    case targets(dead: [CancellationHandler], live: [any Cancelable])
  }

  private func noteKept(
    _ handler: CancellationHandler, _ machine: inout CancellationStateMachine
  ) -> Garbage {
    var links = machine.links ?? CancellationLinks()
    defer { machine.links = links }
    if links.ownsItselfWhileObserved { links.keepsItself = self }
    guard handler.isWeak else { return .none }
    links.weakTargets += 1
    guard links.weakTargets >= links.sweepAt else { return .none }
    // Amortised O(1): the next sweep comes when as many have been added as are now alive.
    let (dead, live) = machine.removeDeadTargets()
    links.weakTargets = live.count
    links.sweepAt = max(32, live.count * 2)
    return .targets(dead: dead, live: live)
  }

  // MARK: Settling

  @discardableResult
  func cancel(_ reason: CancellationReason) -> Bool {
    enum Next: Sendable {
      case late
      case call(CancellationLinks?)
      case markDescendants
    }
    let next: Next = machine.withLock { machine in
      guard machine.mark(reason) else { return .late }
      status.store(Status.cancelled)
      if let links = machine.links, links.children.count > 0 { return .markDescendants }
      machine.beginCalls()
      return .call(machine.links.take())
    }
    switch next {
    case .late:
      return false
    case .call(let links):
      finish(with: links, cancelled: true)
    case .markDescendants:
      for state in markDescendants(reason) { state.callAfterMarking() }
    }
    return true
  }

  /// Settles as not cancelled: the source is gone. Children stay as they are.
  func complete() {
    let links: CancellationLinks?? = machine.withLock { machine in
      guard machine.complete() else { return nil }
      status.store(Status.notCancelled)
      return .some(machine.links.take())
    }
    guard let links else { return }
    finish(with: links, cancelled: false)
  }

  /// Marks every descendant before any handler runs; returns those whose handlers are ours to call.
  private func markDescendants(_ reason: CancellationReason) -> [CancellationState] {
    var marked = [self]
    var unvisited = [self]
    while let state = unvisited.popLast() {
      for child in state.linkedChildren() {
        if child.markAsDescendant(reason) {
          marked.append(child)
          unvisited.append(child)
        } else if child.isBeingMarked {
          // Another cancel is on its way through this branch: our handlers must not run before
          // the branch is marked either.
          unvisited.append(child)
        }
      }
    }
    return marked
  }

  private func linkedChildren() -> [CancellationState] {
    machine.withLock { machine in
      guard let links = machine.links else { return [] }
      return links.children.elements(of: links.childList)
    }
  }

  private func markAsDescendant(_ reason: CancellationReason) -> Bool {
    machine.withLock { machine in
      guard machine.mark(reason) else { return false }
      status.store(Status.cancelled)
      return true
    }
  }

  private var isBeingMarked: Bool {
    machine.withLock { if case .marked = $0.phase { true } else { false } }
  }

  private func callAfterMarking() {
    let links = machine.withLock { machine in
      machine.beginCalls()
      return machine.links.take()
    }
    finish(with: links, cancelled: true)
  }

  /// Leaves parents and timer, then calls the handlers one at a time, so that one can take
  /// another off the token.
  private func finish(with links: CancellationLinks?, cancelled: Bool) {
    if let links {
      for parent in links.parents { parent.state.unlinkChild(parent.key) }
      if let deadline = links.deadline, let key = deadline.key {
        deadline.clock.service.cancel(key)
      }
    }
    while let handler = machine.withLock({ $0.nextHandler() }) {
      handler.call(cancelled: cancelled)
    }
  }

  // MARK: Linking

  /// Makes this state be cancelled with `parent`. If the parent is cancelled, so is this, now.
  func link(to parent: CancellationState) {
    guard let key = parent.addChild(self) else {
      if let reason = parent.reason { cancel(reason) }
      return
    }
    let isLinked = machine.withLock { machine in
      guard machine.isPending else { return false }
      var links = machine.links ?? CancellationLinks()
      links.parents.append(.init(state: parent, key: key))
      machine.links = links
      return true
    }
    // Cancelled in between, perhaps by this very parent.
    if !isLinked { parent.unlinkChild(key) }
  }

  private func addChild(_ child: CancellationState) -> SlabKey? {
    machine.withLock { machine in
      guard machine.isPending else { return nil }
      var links = machine.links ?? CancellationLinks()
      machine.links = nil
      defer { machine.links = links }
      return links.children.append(child, to: &links.childList)
    }
  }

  private func unlinkChild(_ key: SlabKey) {
    let child = machine.withLock { machine in
      machine.links?.removeChild(key)
    }
    _ = child
  }

  // MARK: Deadlines

  enum Holding {
    /// The timer keeps the state: its source settles it, and with it the timer, when it goes.
    case strongly
    /// There is no source: the state lives as long as a token or a handler does.
    case weakly
  }

  func setDeadline(_ instant: ContinuousClock.Instant, clock: TimerClock, holding: Holding) {
    if instant <= clock.now {
      cancel(.deadlineExceeded)
      return
    }
    let replaced: (generation: UInt64, old: CancellationLinks.Deadline?)? = machine.withLock {
      machine in
      guard machine.isPending else { return nil }
      var links = machine.links ?? CancellationLinks()
      defer { machine.links = links }
      links.deadlineGeneration += 1
      if holding == .weakly { links.ownsItselfWhileObserved = true }
      let old = links.deadline
      links.deadline = .init(clock: clock, key: nil)
      return (links.deadlineGeneration, old)
    }
    guard let (generation, old) = replaced else { return }
    if let old, let key = old.key { old.clock.service.cancel(key) }
    let target: any TimerTarget =
      switch holding {
      case .strongly: Deadline(state: self, generation: generation, clock: clock)
      case .weakly: WeakDeadline(state: self, generation: generation, clock: clock)
      }
    let key = clock.service.schedule(target, at: instant)
    let isCurrent = machine.withLock { machine in
      guard machine.isPending, machine.links?.deadlineGeneration == generation else { return false }
      machine.links?.deadline?.key = key
      return true
    }
    if !isCurrent { clock.service.cancel(key) }
  }

  /// A timer of ours fired; it counts unless it was replaced.
  fileprivate func deadlinePassed(generation: UInt64) {
    let counts = machine.withLock { $0.links?.deadlineGeneration == generation }
    if counts { cancel(.deadlineExceeded) }
  }
}

extension CancellationState: Hashable {
  static func == (left: CancellationState, right: CancellationState) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension CancellationHandler {
  fileprivate var isWeak: Bool { if case .target = self { true } else { false } }
}

extension CancellationLinks {
  fileprivate mutating func removeChild(_ key: SlabKey) -> CancellationState? {
    children.remove(key, from: &childList)
  }
}

/// The deadline of a source.
private final class Deadline: TimerTarget {
  let state: CancellationState
  let generation: UInt64
  let clock: TimerClock

  init(state: CancellationState, generation: UInt64, clock: TimerClock) {
    self.state = state
    self.generation = generation
    self.clock = clock
  }

  func timerFired() {
    clock.service.deliver { [state, generation] in state.deadlinePassed(generation: generation) }
  }
}

/// The deadline of a token that has no source.
private final class WeakDeadline: TimerTarget {
  weak let state: CancellationState?
  let generation: UInt64
  let clock: TimerClock

  init(state: CancellationState, generation: UInt64, clock: TimerClock) {
    self.state = state
    self.generation = generation
    self.clock = clock
  }

  func timerFired() {
    guard let state else { return }
    clock.service.deliver { [generation] in state.deadlinePassed(generation: generation) }
  }
}

internal import Primitives

/// What a token is and who waits for it. Pure: no lock, no closure called; the storage does both.
///
/// | event       | pending                  | marked            | settled (cancelled)  | settled (not) |
/// |-------------|--------------------------|-------------------|----------------------|---------------|
/// | mark        | → marked                 | late              | late                 | late          |
/// | beginCalls  | trap                     | → settled         | trap                 | trap          |
/// | complete    | → settled (not)          | late              | late                 | late          |
/// | register    | kept                     | kept              | call now             | call now      |
/// | nextHandler | trap                     | trap              | first kept, released | the same      |
/// | unregister  | true if kept             | true if kept      | true if kept         | true if kept  |
///
/// ```
///  pending ──mark──▶ marked ──beginCalls──▶ settled (cancelled) ──nextHandler…──▶ (no handlers)
///     └──────────complete─────────────────▶ settled (not)       ──nextHandler…──▶ (no handlers)
/// ```
///
/// `marked` lasts while the rest of the linked tree is being marked. A handler that is registered
/// in that time counts as registered before the cancel: it is kept, and called by the canceller
/// once the whole tree reads cancelled.
struct CancellationStateMachine: Sendable {
  enum Phase: Sendable {
    case pending
    case marked(CancellationReason)
    case cancelled(CancellationReason)
    case notCancelled
  }

  enum Registration: Sendable {
    case kept(SlabKey)
    case callNow(cancelled: Bool)
  }

  private(set) var phase = Phase.pending
  private var handlers = Slab<CancellationHandler>()
  private var handlerList = SlabList()

  /// Parents, children, deadline, weak targets: absent on most tokens.
  var links: CancellationLinks?

  var isPending: Bool { if case .pending = phase { true } else { false } }
  var hasHandlers: Bool { handlers.count > 0 }

  var reason: CancellationReason? {
    switch phase {
    case .marked(let reason), .cancelled(let reason): reason
    case .pending, .notCancelled: nil
    }
  }

  /// True if this is the cancel that counts. `beginCalls` must follow.
  mutating func mark(_ reason: CancellationReason) -> Bool {
    guard isPending else { return false }
    phase = .marked(reason)
    return true
  }

  /// The whole tree is marked: from here on, late handlers are called by those who bring them.
  mutating func beginCalls() {
    guard case .marked(let reason) = phase else {
      preconditionFailure("Internal inconsistency: calling handlers of a token in \(phase)")
    }
    phase = .cancelled(reason)
  }

  /// True if this settled the token as not cancelled.
  mutating func complete() -> Bool {
    guard isPending else { return false }
    phase = .notCancelled
    return true
  }

  mutating func register(_ handler: CancellationHandler) -> Registration {
    switch phase {
    case .pending, .marked: .kept(handlers.append(handler, to: &handlerList))
    case .cancelled: .callNow(cancelled: true)
    case .notCancelled: .callNow(cancelled: false)
    }
  }

  /// The handler to call next, or nil when all were called.
  mutating func nextHandler() -> CancellationHandler? {
    switch phase {
    case .pending, .marked:
      preconditionFailure("Internal inconsistency: calling handlers of an unsettled token")
    case .cancelled, .notCancelled:
      return handlers.popFirst(from: &handlerList)
    }
  }

  mutating func unregister(_ key: SlabKey) -> CancellationHandler? {
    handlers.remove(key, from: &handlerList)
  }

  /// Removes handlers whose weak target is gone.
  ///
  /// - Returns: what must be released outside the lock: the dead handlers, and the targets that
  ///   were looked at, since looking retains them and this may have become the last reference.
  mutating func removeDeadTargets() -> (dead: [CancellationHandler], live: [any Cancelable]) {
    var (dead, live): ([CancellationHandler], [any Cancelable]) = ([], [])
    var place = handlers.firstPlace(of: handlerList)
    while place != Slab<CancellationHandler>.nowhere {
      let next = handlers.place(after: place)
      if case .target(let target) = handlers[place] {
        if let object = target.object {
          live.append(object)
        } else {
          dead.append(handlers.remove(at: place, from: &handlerList))
        }
      }
      place = next
    }
    return (dead, live)
  }
}

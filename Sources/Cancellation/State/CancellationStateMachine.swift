internal import ProcedurePrimitives

/// The state of a token and the entries that wait for its end. Pure: it acquires no lock and calls
/// no closure; the storage does both.
///
/// | event           | pending     | marked     | settled  |
/// |-----------------|-------------|------------|----------|
/// | settle          | → settled ¹ | late       | late     |
/// | settleOnly      | → settled ¹ | late       | late     |
/// | mark            | → marked    | late       | late     |
/// | operand         | → marked ²  | ignored ³  | ignored  |
/// | beginCalls      | ✕           | → settled  | ✕        |
/// | nextHandler     | ✕           | ✕          | taken    |
/// | takeDependents  | ✕           | taken      | ✕        |
/// | takeOrphans     | ✕           | ✕          | taken    |
/// | register        | kept        | wait       | call now |
/// | addDependent    | kept        | wait       | decided  |
/// | unregister      | taken       | taken      | taken    |
/// | removeDependent | taken       | taken      | taken    |
///
/// ¹ Refused if it has dependents that this end concerns: they are marked first.
/// ² If its rule says so, ignored otherwise. ³ By another walk than its own: met. ✕ traps.
///
/// ```
///  pending ──settle──────────────────────▶ settled ──nextHandler…──▶ (no handlers)
///     └──mark, operand──▶ marked ──beginCalls──▲
/// ```
///
/// `marked` lasts while the rest of the tree is being marked. It reads cancelled, and no handler is
/// called: a thread that registers one now waits for the walk and then calls it.
///
/// Invariants:
/// 1. An entry is in one of the two lists, handlers or dependents, or it is `first`, which is older
///    than all other handlers.
/// 2. A dependent is taken out when it is notified of its operand's end: it is notified once.
/// 3. `settled` is never left, and then nothing is added.
struct CancellationStateMachine: Sendable {
  enum Phase: Sendable {
    case pending
    case marked(CancellationOutcome, TreeMarking)
    case settled(CancellationOutcome)
  }

  /// How the ends of other tokens decide this one.
  enum Rule: Sendable, Equatable {
    /// Cancelled with any parent. A parent's uncancelled end is ignored: the token has its own
    /// source.
    case linked
    /// Cancelled with the first cancelled operand; not cancelled when the last ends uncancelled.
    case any(undecided: Int)
    /// Cancelled when the last operand is; not cancelled with the first that ends uncancelled.
    case all(undecided: Int)
  }

  enum Settling: Sendable {
    case late
    case settled(first: CancellationEntry?, more: Bool, CancellationLinks)
    case hasDependents
  }

  enum Admission: Sendable {
    case kept(SlabKey)
    case wait(TreeMarking)
    case settled(CancellationOutcome)
  }

  enum Marking: Sendable {
    case undecided
    case marked
    /// The same walk has marked it before, because of another operand.
    case markedBefore
    case met(TreeMarking)
  }

  private(set) var phase = Phase.pending

  /// `linked` unless the token was combined or derived, and so has extras.
  var rule: Rule {
    get { links.extras?.rule ?? .linked }
    set { links.madeExtras().rule = newValue }
  }

  /// The oldest handler, if there was no other when it was registered. Most tokens have one
  /// handler, and need no table.
  private var first: CancellationEntry?
  private var firstSerial: UInt64 = 0
  private var entries = Slab<CancellationEntry>()
  private var handlers = SlabList()
  private var dependents = SlabList()

  var links = CancellationLinks()

  var isPending: Bool { if case .pending = phase { true } else { false } }
  var hasHandlers: Bool { first != nil || !handlers.isEmpty }

  var outcome: CancellationOutcome? {
    switch phase {
    case .pending: nil
    case .marked(let outcome, _), .settled(let outcome): outcome
    }
  }

  // MARK: Settling

  /// Settles a token without dependents, which has no tree to mark.
  @inline(__always)
  mutating func settle(_ outcome: CancellationOutcome) -> Settling {
    guard isPending else { return .late }
    guard dependents.isEmpty else { return .hasDependents }
    phase = .settled(outcome)
    let handler = popFirstHandler()
    return .settled(first: handler, more: !handlers.isEmpty, links.take())
  }

  /// Like `settle`, for a source that is released uncancelled. Leaves all handlers to
  /// `nextHandler`.
  ///
  /// Followers, which only a cancel concerns, keep their places until they leave, or the token is
  /// released.
  mutating func settleOnly() -> Settling {
    guard isPending else { return .late }
    guard hasOnlyFollowers else { return .hasDependents }
    phase = .settled(.notCancelled)
    return .settled(first: nil, more: hasHandlers, links.take())
  }

  private var hasOnlyFollowers: Bool {
    var place = entries.firstPlace(of: dependents)
    while place != Slab<CancellationEntry>.nowhere {
      guard case .follower = entries[place] else { return false }
      place = entries.place(after: place)
    }
    return true
  }

  /// True if this is the end that counts. `beginCalls` must follow.
  mutating func mark(_ outcome: CancellationOutcome, by marking: TreeMarking) -> Bool {
    guard isPending else { return false }
    phase = .marked(outcome, marking)
    return true
  }

  /// An operand or parent has ended; marks this token if that decides it.
  mutating func operand(_ outcome: CancellationOutcome, by marking: TreeMarking) -> Marking {
    switch phase {
    case .pending:
      guard decides(outcome) else { return .undecided }
      phase = .marked(outcome, marking)
      return .marked
    case .marked(_, let other):
      return other === marking ? .markedBefore : .met(other)
    case .settled:
      return .undecided
    }
  }

  /// Counts one operand's end. True if it decides this token, which then ends in the same way.
  mutating func decides(_ outcome: CancellationOutcome) -> Bool {
    switch (rule, outcome) {
    case (.linked, .cancelled), (.any, .cancelled), (.all, .notCancelled):
      return true
    case (.linked, .notCancelled):
      return false
    case (.any(let undecided), .notCancelled):
      rule = .any(undecided: undecided - 1)
      return undecided == 1
    case (.all(let undecided), .cancelled):
      rule = .all(undecided: undecided - 1)
      return undecided == 1
    }
  }

  /// The whole tree is marked: from now on a thread that registers a handler calls it.
  mutating func beginCalls() -> CancellationOutcome {
    guard case .marked(let outcome, _) = phase else {
      stopBecauseOfInconsistency("Internal inconsistency: calling handlers of a token in \(phase)")
    }
    phase = .settled(outcome)
    return outcome
  }

  mutating func nextHandler() -> (handler: CancellationEntry?, more: Bool) {
    guard case .settled = phase else {
      stopBecauseOfInconsistency("Internal inconsistency: calling handlers of a token in \(phase)")
    }
    let handler = popFirstHandler()
    return (handler, !handlers.isEmpty)
  }

  @inline(__always)
  private mutating func popFirstHandler() -> CancellationEntry? {
    if let handler = first.take() { return handler }
    return entries.popFirst(from: &handlers)
  }

  /// Takes out the dependents that must be notified of `outcome`.
  ///
  /// A linked child ignores a parent that ends uncancelled: it stays here, until it is adopted.
  mutating func takeDependents(toTell outcome: CancellationOutcome) -> [CancellationEntry] {
    guard case .marked = phase else {
      stopBecauseOfInconsistency(
        "Internal inconsistency: marking dependents of a token in \(phase)")
    }
    var taken: [CancellationEntry] = []
    taken.reserveCapacity(entries.count)
    var place = entries.firstPlace(of: dependents)
    while place != Slab<CancellationEntry>.nowhere {
      let next = entries.place(after: place)
      if outcome.isCancelled || !entries[place].isChild {
        taken.append(entries.remove(at: place, from: &dependents))
      }
      place = next
    }
    return taken
  }

  /// The tokens whose cancel cancels this one, besides its source.
  var parents: Set<CancellationState> { Set(links.parents.all.lazy.map(\.state)) }

  /// The children that pass to the parents when the source is released. Nil if there are none, or
  /// the token has no source.
  var childrenToPassOn: (children: [(SlabKey, CancellationState)], to: Set<CancellationState>)? {
    guard isPending, rule == .linked, !links.ownsItselfWhileObserved else { return nil }
    var children: [(SlabKey, CancellationState)] = []
    var place = entries.firstPlace(of: dependents)
    while place != Slab<CancellationEntry>.nowhere {
      if case .child(let child) = entries[place] {
        children.append((entries.key(at: place), child))
      }
      place = entries.place(after: place)
    }
    return children.isEmpty ? nil : (children, parents)
  }

  /// The linked children of a token that was not cancelled.
  mutating func takeOrphans() -> [CancellationEntry] {
    guard case .settled = phase else {
      stopBecauseOfInconsistency("Internal inconsistency: orphans of a token in \(phase)")
    }
    var taken: [CancellationEntry] = []
    while let child = entries.popFirst(from: &dependents) { taken.append(child) }
    return taken
  }

  // MARK: Entries

  @inline(__always)
  mutating func register(_ handler: CancellationEntry) -> Admission {
    switch phase {
    case .pending: .kept(keep(handler))
    case .marked(_, let marking): .wait(marking)
    case .settled(let outcome): .settled(outcome)
    }
  }

  @inline(__always)
  private mutating func keep(_ handler: CancellationEntry) -> SlabKey {
    if hasHandlers { return entries.append(handler, to: &handlers) }
    first = handler
    firstSerial += 1
    return SlabKey(place: Slab<CancellationEntry>.nowhere, serial: firstSerial)
  }

  @inline(__always)
  mutating func unregister(_ key: SlabKey) -> CancellationEntry? {
    guard key.place == Slab<CancellationEntry>.nowhere else {
      return entries.remove(key, from: &handlers)
    }
    return key.serial == firstSerial ? first.take() : nil
  }

  mutating func addDependent(_ dependent: CancellationEntry) -> Admission {
    switch phase {
    case .pending: .kept(entries.append(dependent, to: &dependents))
    case .marked(_, let marking): .wait(marking)
    case .settled(let outcome): .settled(outcome)
    }
  }

  mutating func removeDependent(_ key: SlabKey) -> CancellationEntry? {
    entries.remove(key, from: &dependents)
  }

  /// Removes handlers whose weak target was deallocated.
  ///
  /// - Returns: references to release outside the lock: the dead handlers, and the live targets,
  ///   since the check retains them and may hold the last reference.
  mutating func removeDeadTargets() -> (dead: [CancellationEntry], live: [any Cancelable]) {
    var (dead, live): ([CancellationEntry], [any Cancelable]) = ([], [])
    if case .target(let target)? = first {
      if let object = target.object {
        live.append(object)
      } else {
        dead.append(.target(target))
        first = nil
      }
    }
    var place = entries.firstPlace(of: handlers)
    while place != Slab<CancellationEntry>.nowhere {
      let next = entries.place(after: place)
      if case .target(let target) = entries[place] {
        if let object = target.object {
          live.append(object)
        } else {
          dead.append(entries.remove(at: place, from: &handlers))
        }
      }
      place = next
    }
    return (dead, live)
  }
}

extension CancellationEntry {
  fileprivate var isChild: Bool { if case .child = self { true } else { false } }
}

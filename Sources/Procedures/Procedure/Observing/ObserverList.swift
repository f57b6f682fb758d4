internal import ProcedurePrimitives

/// The observers of one procedure, in the order in which they were added. Guarded by its lock.
struct ObserverList: Sendable {
  private(set) var entries = SmallList<ObserverEntry>()
  /// The events that one of them at least wants to receive.
  private(set) var wants: ProcedureEvents = []
  /// When to look for removed entries: at two to the power of this many.
  private var pruneExponent: UInt8 = 4

  /// Adds an observer. Those that were taken off leave here, amortised O(1).
  mutating func append(_ entry: ObserverEntry) {
    if entries.count >= 1 << pruneExponent { prune() }
    entries.append(entry)
    wants.formUnion(entry.events)
  }

  var isEmpty: Bool { if case .none = entries { true } else { false } }

  /// Whether an observer wants the events of procedures that this one adds.
  var wantsAdditions: Bool { !wants.isDisjoint(with: [.willAdd, .didAdd]) }

  /// The observers that have not received didAttach.
  var unattached: SmallList<ObserverEntry> { entries.keeping { !$0.isAttached } }

  /// The procedure releases all of them.
  mutating func takeAll() -> SmallList<ObserverEntry> {
    defer { self = ObserverList() }
    return entries
  }

  private mutating func prune() {
    entries = entries.keeping { !$0.isRemoved }
    pruneExponent = 4
    while 1 << pruneExponent < entries.count * 2 { pruneExponent += 1 }
  }
}

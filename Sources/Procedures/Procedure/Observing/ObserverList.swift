internal import ProcedurePrimitives

/// The observers of one procedure, in the order in which they were added. Guarded by its lock.
struct ObserverList: Sendable {
  private(set) var entries = SmallList<ObserverEntry>()
  /// The events that at least one of them wants to receive.
  private(set) var wants = ProcedureEvents(rawValue: 0)
  /// Two to this power is the number of entries at which removed ones are dropped.
  private var pruneExponent: UInt8 = 4

  /// Adds an observer. Removed entries are dropped here, amortised O(1).
  mutating func append(_ entry: ObserverEntry) {
    if entries.count >= 1 << pruneExponent { prune() }
    entries.append(entry)
    wants.formUnion(entry.events)
  }

  var isEmpty: Bool { if case .none = entries { true } else { false } }

  /// Whether an observer wants the events of procedures that this one adds.
  var wantsAdditions: Bool { !wants.isDisjoint(with: [.willAdd, .didAdd]) }

  /// The observers that have not received didAttach.
  var unattached: SmallList<ObserverEntry> { entries.keeping { !$0.isAttached.value } }

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

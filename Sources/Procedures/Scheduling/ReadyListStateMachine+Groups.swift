internal import ProcedurePrimitives

/// How a group uses the list of its children.
extension ReadyListStateMachine {
  /// The children that there were, as long as those are kept that have finished.
  struct KeptChildren: Sendable {
    fileprivate(set) var all: [Item] = []
    fileprivate(set) var isKept = true

    mutating func add(_ item: Item) {
      if isKept { all.append(item) }
    }
  }

  /// Those that there were, and are kept.
  var children: [Item] {
    mutating get {
      if keepsFinishedChildren { return kept.all }
      admitArrivals()
      return items
    }
  }

  /// Whether `children` has those that have finished.
  var keepsFinishedChildren: Bool { kept.isKept }

  /// The group is made of these, which were inserted. User code of one of them, in a turn that it had before the
  /// others were, may have added more.
  mutating func consist(of children: [Item]) {
    guard keepsFinishedChildren else { return }
    kept.all = kept.all.isEmpty ? children : children + kept.all
  }

  /// - Returns: what is forgotten, to be released when nothing is locked.
  mutating func keepFinishedChildren(_ keeps: Bool) -> [Item] {
    guard keeps != keepsFinishedChildren else { return [] }
    let forgotten = kept.all
    kept = KeptChildren(all: keeps ? items : [], isKept: keeps)
    return forgotten
  }

  /// The group announces the children that there are; a caller that adds one later announces it.
  mutating func announce() { isAnnounced = true }

  /// The group executes: children may start.
  mutating func begin() { phase.begin() }

  /// The group has executed, or never will. True if it had no children left, and is closed.
  mutating func settle() -> Bool {
    phase.settle()
    return count == 0 && phase.becameEmpty()
  }

  /// The rest in the list of a group that goes away: members, and procedures whose turns are due.
  typealias Remains = (unfinished: [Item], finished: [Item], awaitingTurn: [Item])

  /// The group goes away: its members, if it never ran, belong to no list now, and turns that have
  /// not run must run elsewhere.
  mutating func abandon() -> Remains {
    // As mostly: the group has ended, and this goes with it.
    if phase == .closed, turns.isEmpty {
      let finished = kept.all
      kept = KeptChildren()
      return ([], finished, [])
    }
    let unfinished = items
    let finished =
      unfinished.isEmpty ? kept.all : kept.all.filter { $0.membership.line == .none }
    for item in unfinished {
      if item.membership.isKept { Member.unowned(item).release() }
      item.membership = Membership()
    }
    var awaitingTurn: [Item] = []
    while let member = turns.popFirst() {
      awaitingTurn.append(member.item)
      member.release()
    }
    self = ReadyListStateMachine(isGroup: true)
    phase = .closed
    return (unfinished, finished, awaitingTurn)
  }
}

/// Questions about a list.
extension ReadyListStateMachine {
  var slotsInUse: Int { lines.slotsInUse }

  /// Whether one that is ready could be taken.
  var hasRoom: Bool { isOpen && slotsInUse < limit }

  /// Whether an item has arrived that is no member yet.
  var hasArrivals: Bool { !arrivals.isEmpty }

  /// Whether one of them waits for nothing but a slot.
  var hasReadyArrivals: Bool { arrivals.readyCount > 0 }

  /// Whether there are members that wait for others, and nothing that a worker could do about it. Not those of a
  /// group that has not begun: it stands in another list, and waits there. Nor those that wait for nothing but
  /// the end of a suspension.
  @inline(__always)
  func isStuck(hasMoreArrivals: Bool) -> Bool {
    (memberCount > lines.slotsInUse || hasArrivals || hasMoreArrivals) && !isWorkerRequested
      && phase != .held && (!isSuspended || hasMoreArrivals || waitsWhileSuspended)
  }

  private var waitsWhileSuspended: Bool {
    lines.hasWaiting || arrivals.count > arrivals.readyCount
  }

  /// In the order in which they were added. O(n log n) at most.
  var items: [Item] {
    var members: [Member<Item>] = []
    members.reserveCapacity(memberCount)
    lines.forEach { members.append($0) }
    if zip(members, members.dropFirst()).contains(where: { $1.isOlder(than: $0) }) {
      members.sort { $0.isOlder(than: $1) }
    }
    return members.map(\.item)
  }

  /// In no order, those that have arrived included.
  func forEach(_ body: (Item) -> Void) {
    lines.forEach { $0.with(body) }
    arrivals.forEach { $0.with(body) }
  }

  /// Where a member that is not waiting stands.
  enum Position: Sendable {
    /// It runs, or is about to.
    case free
    /// A worker is to take it.
    case ready
    /// The group has not begun.
    case held
    case suspended
    case excluded(Request)
    case noSlot(limit: Int, running: [Item])
  }

  func position(of item: Item) -> Position {
    let line = item.membership.line
    if line == .none || line == .waiting || line.hasSlot || isCancelled { return .free }
    if phase == .held { return .held }
    if isSuspended { return .suspended }
    if line == .excluded, let request = lines.request(of: .unowned(item)) {
      return .excluded(request)
    }
    guard line != .evaluable, slotsInUse >= limit else { return .ready }
    var holders: [Item] = []
    lines.forEachWithSlot { holders.append($0.item) }
    return .noSlot(limit: limit, running: holders)
  }
}

/// Names the things that procedures waited for, if that takes several entries: the procedure that
/// kept a barrier closed, and the wait of a child's group.
enum WaitNames {
  /// The queue or group that a procedure belongs to.
  struct Home: Hashable {
    let parent: Int?
    let root: Int

    init(of entry: ProcedureTimeline.Entry) {
      parent = entry.parent
      root = entry.root
    }
  }

  static func complete(_ entries: inout [ProcedureTimeline.Entry], places: [Int: Int]) {
    nameBarriers(in: &entries)
    nameGroups(in: &entries, places: places)
  }

  /// A barrier waits for all procedures that were added before it, and later ones wait for the
  /// barrier. So the wait ended when the last of the earlier procedures finished.
  private static func nameBarriers(in entries: inout [ProcedureTimeline.Entry]) {
    var waiters: [Home: [(place: Int, end: Int64)]] = [:]
    for place in entries.indices {
      let entry = entries[place]
      guard entry.nanosecondsWaited(for: .barrier) != 0 else { continue }
      let end = entry.isAtBarrier ? .max : entry.end(ofLast: .barrier)
      waiters[Home(of: entry), default: []].append((place, end))
    }
    guard !waiters.isEmpty else { return }
    var finishers: [Home: [Int]] = [:]
    /// The first unfinished procedure of each, which keeps all barriers closed.
    var keepers: [Home: Int] = [:]
    for place in entries.indices {
      let home = Home(of: entries[place])
      guard waiters[home] != nil else { continue }
      if entries[place].times.finished != nil {
        finishers[home, default: []].append(place)
      } else if keepers[home] == nil {
        keepers[home] = place
      }
    }
    for (home, waiters) in waiters {
      let order = (finishers[home] ?? []).map { (place: $0, end: entries[$0].times.finished ?? 0) }
        .sorted { ($0.end, $0.place) < ($1.end, $1.place) }
      for waiter in waiters {
        let keeper = keepers[home].flatMap { $0 < waiter.place ? $0 : nil }
        let present = waiter.end == .max ? keeper : nil
        guard
          let place = present ?? lastFinisher(in: order, until: waiter.end, before: waiter.place)
        else { continue }
        for index in entries[waiter.place].stretches.indices
        where entries[waiter.place].stretches[index].cause == .barrier {
          entries[waiter.place].stretches[index].blocker = entries[place].name
          entries[waiter.place].stretches[index].blockerID = entries[place].id
        }
      }
    }
  }

  /// Places are in the order of enqueuing.
  private static func lastFinisher(
    in order: [(place: Int, end: Int64)], until time: Int64, before waiter: Int
  ) -> Int? {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if order[middle].end <= time { low = middle + 1 } else { high = middle }
    }
    return order[..<low].last { $0.place < waiter }?.place
  }

  private static func nameGroups(
    in entries: inout [ProcedureTimeline.Entry], places: [Int: Int]
  ) {
    // A group is enqueued before its children, so its waits are known by then.
    for place in entries.indices {
      guard let parent = entries[place].parent.flatMap({ places[$0] }) else { continue }
      let group = entries[parent]
      for index in entries[place].stretches.indices
      where entries[place].stretches[index].cause == .group {
        let wait = entries[place].stretches[index]
        // Later waits are for a slot that the group has given up.
        guard wait.from < group.times.executing ?? .max, let longest = group.longest(in: wait)
        else { continue }
        entries[place].stretches[index].groupCause = longest.groupCause ?? longest.cause
        entries[place].stretches[index].blocker = longest.blocker
        entries[place].stretches[index].blockerID = longest.blockerID
        entries[place].stretches[index].category = longest.category
      }
    }
  }
}

extension ProcedureTimeline.Entry {
  /// The wait of this group that took most of a child's wait for it; nil if the group's own code
  /// took more.
  fileprivate func longest(in wait: ProcedureTimeline.Wait) -> ProcedureTimeline.Wait? {
    let waits = stretches.compactMap { $0.cut(from: wait.from, to: wait.end) }.joined
    let own = wait.nanoseconds - waits.reduce(0) { $0 + $1.nanoseconds }
    return waits.max { $0.nanoseconds < $1.nanoseconds }.flatMap { $0.nanoseconds < own ? nil : $0 }
  }
}

extension ProcedureTimeline.Entry {
  /// Returns the end of its last wait for a cause; the time of its enqueue if there is none.
  fileprivate func end(ofLast cause: ProcedureTimeline.WaitCause) -> Int64 {
    stretches.last { $0.cause == cause }?.end ?? times.enqueued
  }

  /// Whether it waits for a barrier now.
  fileprivate var isAtBarrier: Bool { endOfWaits == nil && stretches.last?.cause == .barrier }
}

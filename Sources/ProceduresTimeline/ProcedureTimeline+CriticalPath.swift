internal import Procedures

extension ProcedureTimeline {
  /// One procedure on the critical path.
  public struct Step: Sendable, Identifiable {
    /// Why it could not have started before the step in front of it had finished.
    public enum Link: String, Sendable, Hashable {
      /// It is the first.
      case beginning
      /// It depends on the one before.
      case dependency
      /// The step before held a category that this one needed.
      case exclusion
      /// The one before gave it its slot.
      case slot
      /// The one before is the barrier that kept it back, or the last that kept the barrier back.
      case barrier
    }

    /// The entry, with its waits.
    public let entry: Entry

    /// The link to the step before.
    public let link: Link

    /// The number of the entry.
    public var id: Int { entry.id }
  }
}

extension ProcedureTimeline.Snapshot {
  /// The procedures that determined when the last one finished, from the first to the last.
  ///
  /// Walked from the end: for each, that which it waited for last, if that was another procedure:
  /// the dependency that ended last, the holder of the category that it was excluded from, the
  /// procedure that gave back the slot it took, or the one whose end let a barrier go on, or it
  /// behind one. The path has no group, but its child that finished last; a
  /// child that waited for none of these is traced through its group. To make the whole faster,
  /// shorten a step, or remove what binds it to the one before.
  public var criticalPath: [ProcedureTimeline.Step] { pathWalk.map(\.step) }

  /// The critical path, and of each step the procedure that the next one waited for: the step's, or the
  /// outermost group whose last child it is.
  var pathWalk: [(step: ProcedureTimeline.Step, place: Int, outermost: Int)] {
    let index = PathIndex(of: self)
    guard let last = last.flatMap({ places[$0] }) ?? index.last else { return [] }
    var steps: [(step: ProcedureTimeline.Step, place: Int, outermost: Int)] = []
    var outermost = last
    var place = index.lowest(last)
    var seen = Set<Int>()
    while seen.insert(place).inserted {
      let (link, before) = index.link(before: place)
      let step = ProcedureTimeline.Step(
        entry: entries[place], link: before == nil ? .beginning : link)
      steps.append((step, place, outermost))
      guard let before else { break }
      outermost = before
      place = index.lowest(before)
    }
    return steps.reversed()
  }
}

/// Indices for the walk.
private struct PathIndex {
  private let snapshot: ProcedureTimeline.Snapshot
  /// The child of each group that finished last.
  private var lastChild: [Int: Int] = [:]
  /// The places of procedures that had a slot, by their queue or group, in the order in which they finished.
  private var finishers: [WaitNames.Home: [Int]] = [:]
  private(set) var last: Int?

  init(of snapshot: ProcedureTimeline.Snapshot) {
    self.snapshot = snapshot
    let entries = snapshot.entries
    for place in entries.indices {
      let entry = entries[place]
      guard entry.times.started != nil || entry.times.finished != nil else { continue }
      if let parent = entry.parent {
        if isLater(place, than: lastChild[parent]) { lastChild[parent] = place }
      }
      if entry.parent == nil || snapshot.places[entry.parent ?? 0] == nil {
        if isLater(place, than: last) { last = place }
      }
      if entry.times.started != nil, entry.times.finished != nil {
        finishers[WaitNames.Home(of: entry), default: []].append(place)
      }
    }
    for home in finishers.keys {
      finishers[home]?.sort {
        (entries[$0].times.finished ?? 0, $0) < (entries[$1].times.finished ?? 0, $1)
      }
    }
  }

  private func isLater(_ place: Int, than other: Int?) -> Bool {
    guard let other else { return true }
    return end(of: place) >= end(of: other)
  }

  private func end(of place: Int) -> Int64 { snapshot.entries[place].times.finished ?? .max }

  /// For a group, the child that finished last, however deep.
  func lowest(_ place: Int) -> Int {
    var place = place
    while snapshot.entries[place].isGroup, let child = lastChild[snapshot.entries[place].id] {
      place = child
    }
    return place
  }

  /// The last procedure that it waited for; that of its group, if there is none.
  func link(before place: Int) -> (ProcedureTimeline.Step.Link, Int?) {
    var next: Int? = place
    while let place = next {
      if let link = ownLink(of: place) { return link }
      next = snapshot.entries[place].parent.flatMap { snapshot.places[$0] }
    }
    return (.beginning, nil)
  }

  /// Back from the start: its last wait counts. A hundredth of the wait is no reason, where there is another:
  /// who has waited for a holder waits some microseconds for a slot, too.
  private func ownLink(of place: Int) -> (ProcedureTimeline.Step.Link, Int?)? {
    let entry = snapshot.entries[place]
    let begin = entry.times.started ?? entry.times.cancelled ?? entry.times.finished ?? snapshot.end
    let waits = entry.stretches.filter { !$0.cause.isAfterStart }
    let whole = waits.reduce(0) { $0 + $1.nanoseconds }
    var short: (ProcedureTimeline.Step.Link, Int?)?
    for wait in waits.reversed() {
      if let link = link(of: wait, until: wait.end, of: place) {
        if wait.nanoseconds >= whole / 100 { return link }
        short = short ?? link
      }
    }
    if let short { return short }
    let known = entry.dependencies.compactMap { snapshot.places[$0] }
      .filter { end(of: $0) <= begin }
    return known.max { (end(of: $0), $0) < (end(of: $1), $1) }.map { (.dependency, $0) }
  }

  /// The procedure that ended that wait; nil if none did, or none that is known.
  private func link(
    of wait: ProcedureTimeline.Wait, until time: Int64, of place: Int
  ) -> (ProcedureTimeline.Step.Link, Int?)? {
    let blocker = wait.blockerID.flatMap { snapshot.places[$0] }
    switch wait.cause {
    case .slot:
      let home = WaitNames.Home(of: snapshot.entries[place])
      return finisher(in: home, until: time, not: place).map { (.slot, $0) }
    case .exclusion: return blocker.map { (.exclusion, $0) }
    case .barrier: return blocker.map { (.barrier, $0) }
    case .dependency: return blocker.map { (.dependency, $0) }
    case .condition, .group, .suspension, .rate, .worker, .heldEvent, .observer, .mainActor, .delay,
      .lingering:
      return nil
    }
  }

  /// The procedure that gave back a slot last before that.
  private func finisher(in home: WaitNames.Home, until time: Int64, not place: Int) -> Int? {
    guard let finishers = finishers[home] else { return nil }
    var (low, high) = (0, finishers.count)
    while low < high {
      let middle = (low + high) / 2
      if end(of: finishers[middle]) <= time { low = middle + 1 } else { high = middle }
    }
    while low > 0 {
      low -= 1
      if finishers[low] != place { return finishers[low] }
    }
    return nil
  }
}

internal import Procedures

extension ProcedureTimeline {
  /// One procedure on the critical path.
  public struct Step: Sendable, Identifiable {
    /// The reason why it could not have started before the previous step had finished.
    public enum Link: String, Sendable, Hashable {
      /// It is the first step.
      case beginning
      /// It depends on the previous step.
      case dependency
      /// The previous step held a category that this one needed.
      case exclusion
      /// The previous step freed the slot that this one took, or has the one that it waits for.
      case slot
      /// The previous step is the barrier that kept this one back, or the last procedure that kept
      /// this barrier back.
      case barrier
    }

    /// The entry, with its waits.
    public let entry: Entry

    /// The link to the previous step.
    public let link: Link

    /// The number of the entry.
    public var id: Int { entry.id }
  }
}

extension ProcedureTimeline.Snapshot {
  /// The procedures that determined when the last one finished, from the first to the last.
  ///
  /// While procedures are unfinished, the path ends now: with the procedure whose present wait
  /// before its start has lasted longest or, if none waits, with the running one that was enqueued
  /// last.
  ///
  /// It is traced from the end. The predecessor of a procedure is the one that it waited for last:
  /// the dependency that ended last, the holder of its exclusion category, the procedure that freed
  /// its slot, or the procedure whose end let a barrier, or a procedure behind one, start. Instead
  /// of a group, the path has its child that finished last; a child that waited for none of these
  /// is traced through its group.
  ///
  /// To make the whole faster, shorten a step, or remove its link to the previous one.
  public var criticalPath: [ProcedureTimeline.Step] { pathWalk.map(\.step) }

  /// The critical path. `outermost` is the procedure that the next step waited for: the step's own,
  /// or the outermost group whose last child it is.
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

private struct PathIndex {
  /// When an entry ends: the later one is greater. An unfinished one ends after all that have
  /// finished, and one that waits after those that run, since its own run is still to come.
  private enum End: Comparable {
    case finished(Int64)
    case running
    case waiting(nanoseconds: Int64)

    init(of entry: ProcedureTimeline.Entry) {
      if let finished = entry.times.finished {
        self = .finished(finished)
      } else if entry.endOfWaits != nil {
        self = .running
      } else {
        self = .waiting(nanoseconds: entry.stretches.last?.nanoseconds ?? 0)
      }
    }
  }

  private let snapshot: ProcedureTimeline.Snapshot
  /// The child of each group that ends last.
  private var lastChild: [Int: Int] = [:]
  /// The places of procedures that had a slot, by their queue or group, in the order of their
  /// finishes.
  private var finishers: [WaitNames.Home: [Int]] = [:]
  /// The unfinished procedure that started first, by its queue or group.
  private var runners: [WaitNames.Home: Int] = [:]
  private(set) var last: Int?

  init(of snapshot: ProcedureTimeline.Snapshot) {
    self.snapshot = snapshot
    let entries = snapshot.entries
    var ends = entries.map(End.init(of:))
    // Children are enqueued after their group, so an unfinished group's end is known by then: that
    // of its last child. Of equal ends, the one that was enqueued last is the later.
    for place in entries.indices.reversed() {
      let entry = entries[place]
      if ends[place] == .running, let child = lastChild[entry.id] {
        ends[place] = max(ends[place], ends[child])
      }
      if let parent = entry.parent {
        if ends[place] > lastChild[parent].map({ ends[$0] }) ?? .finished(.min) {
          lastChild[parent] = place
        }
      }
      if entry.parent.flatMap({ snapshot.places[$0] }) == nil {
        if ends[place] > last.map({ ends[$0] }) ?? .finished(.min) { last = place }
      }
    }
    for place in entries.indices {
      guard let started = entries[place].times.started else { continue }
      let home = WaitNames.Home(of: entries[place])
      if entries[place].times.finished != nil {
        finishers[home, default: []].append(place)
      } else if runners[home].map({ started < entries[$0].times.started ?? .max }) ?? true {
        runners[home] = place
      }
    }
    for home in finishers.keys {
      finishers[home]?.sort {
        (entries[$0].times.finished ?? 0, $0) < (entries[$1].times.finished ?? 0, $1)
      }
    }
  }

  private func end(of place: Int) -> Int64 { snapshot.entries[place].times.finished ?? .max }

  /// Returns the child of a group that ends last, at any depth; other procedures themselves, and a
  /// group that has not begun, or whose children had all ended before it began.
  func lowest(_ place: Int) -> Int {
    var place = place
    while snapshot.entries[place].isGroup, let begin = snapshot.entries[place].endOfWaits,
      let child = lastChild[snapshot.entries[place].id], end(of: child) >= begin
    {
      place = child
    }
    return place
  }

  /// Returns the last procedure that it waited for, or that its group waited for.
  func link(before place: Int) -> (ProcedureTimeline.Step.Link, Int?) {
    var next: Int? = place
    while let place = next {
      if let link = ownLink(of: place) { return link }
      next = snapshot.entries[place].parent.flatMap { snapshot.places[$0] }
    }
    return (.beginning, nil)
  }

  /// Searches back from the start. A wait below 1 % of all its waits counts only if there is no
  /// longer one: a procedure that has waited for a holder also waits some microseconds for a slot.
  private func ownLink(of place: Int) -> (ProcedureTimeline.Step.Link, Int?)? {
    let entry = snapshot.entries[place]
    let begin = entry.endOfWaits ?? snapshot.end
    let waits = entry.stretches.filter { !$0.cause.isAfterStart }
    let whole = waits.reduce(0) { $0 + $1.nanoseconds }
    var short: (ProcedureTimeline.Step.Link, Int?)?
    for (index, wait) in waits.enumerated().reversed() {
      if let link = link(of: wait, until: end(of: wait, at: index, in: waits), of: place) {
        if wait.nanoseconds >= whole / 100 { return link }
        short = short ?? link
      }
    }
    if let short { return short }
    let known = entry.dependencies.compactMap { snapshot.places[$0] }
      .filter { end(of: $0) <= begin }
    return known.max { (end(of: $0), $0) < (end(of: $1), $1) }.map { (.dependency, $0) }
  }

  /// Returns the time when what a wait was for had come.
  ///
  /// Each time a slot becomes free, all that are ready wait for a worker, until one of them has the
  /// slot. The record adds up these moments, and has them behind the whole wait for a slot.
  private func end(
    of wait: ProcedureTimeline.Wait, at index: Int, in waits: [ProcedureTimeline.Wait]
  ) -> Int64 {
    guard wait.cause == .slot, index + 1 < waits.count, waits[index + 1].cause == .worker,
      waits[index + 1].from == wait.end
    else { return wait.end }
    return waits[index + 1].end
  }

  /// Returns the procedure that ended the wait; nil if none did, or none that is recorded.
  private func link(
    of wait: ProcedureTimeline.Wait, until time: Int64, of place: Int
  ) -> (ProcedureTimeline.Step.Link, Int?)? {
    let blocker = wait.blockerID.flatMap { snapshot.places[$0] }
    switch wait.cause {
    case .slot:
      let home = WaitNames.Home(of: snapshot.entries[place])
      // While it waits, none has freed the slot that it will take.
      let isPresent = snapshot.entries[place].endOfWaits == nil && time == snapshot.end
      let runner = isPresent ? runners[home] : nil
      return (runner ?? finisher(in: home, until: time, not: place)).map { (.slot, $0) }
    case .exclusion: return blocker.map { (.exclusion, $0) }
    case .barrier: return blocker.map { (.barrier, $0) }
    case .dependency:
      guard let blocker else { return nil }
      // A cancel may have ended the wait.
      let isOver = snapshot.entries[place].endOfWaits != nil
      return isOver && end(of: blocker) > time ? nil : (.dependency, blocker)
    case .condition, .group, .suspension, .rate, .worker, .heldEvent, .observer, .mainActor, .delay,
      .lingering:
      return nil
    }
  }

  /// Returns the procedure that was the last to free a slot by that time.
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

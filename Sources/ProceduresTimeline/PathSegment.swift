/// A part of the critical path's time. All segments, one after another, fill the time from the
/// first enqueue to the last finish or, while procedures are unfinished, until now.
struct PathSegment {
  /// The index of its entry.
  var place: Int
  /// The index of its step on the path.
  var step: Int
  var from: Int64
  var to: Int64
  var kind: ProcedureTimeline.PathShare.Kind
  /// Whether the entry ran meanwhile: if not, it waited, or was not enqueued yet.
  var isRunning = false
  /// The name of the condition, the category, the queue or the event.
  var name: String?
  /// The same name, as text after the cause.
  var text: String?
  /// The index of the entry that waited, which may not be the one that ran.
  var waiter: Int
  /// The queue or group whose subjects are one share, for any number of names.
  var home: String?

  var length: Int64 { to - from }

  init(
    place: Int, step: Int, from: Int64, to: Int64, kind: ProcedureTimeline.PathShare.Kind,
    isRunning: Bool = false
  ) {
    (self.place, self.step, self.from, self.to) = (place, step, from, to)
    (self.kind, self.isRunning, waiter) = (kind, isRunning, place)
  }
}

extension ProcedureTimeline.Snapshot {
  /// The waits of one procedure before it started, one after another.
  ///
  /// The group's own waits replace a wait for the group, if there are any. The waits and runs of
  /// the group before a child was added precede the waits of that child.
  func waitSegments(of place: Int, step: Int) -> [PathSegment] {
    var segments = waitSegments(
      of: place, step: step, from: entries[place].times.enqueued, to: .max)
    var child = place
    while let group = entries[child].parent.flatMap({ places[$0] }) {
      let (from, to) = (entries[group].times.enqueued, entries[child].times.enqueued)
      if from < to {
        segments += waitSegments(of: group, step: step, from: from, to: to)
        for run in runSegments(of: group, step: step) {
          guard var run = run.cut(to: to) else { continue }
          run.waiter = place
          segments.append(run)
        }
      }
      child = group
    }
    return segments.sorted { $0.from < $1.from }
  }

  /// Returns the waits of one procedure within some time.
  private func waitSegments(
    of place: Int, step: Int, from begin: Int64, to end: Int64
  ) -> [PathSegment] {
    var segments: [PathSegment] = []
    var current = place
    var (from, to) = (begin, end)
    while true {
      let entry = entries[current]
      var hole: (from: Int64, to: Int64)?
      var covered = from
      // Of a group, the waits after its start count, too: its children wait for it meanwhile.
      for wait in entry.stretches where current != place || !wait.cause.isAfterStart {
        let (begin, end) = (max(wait.from, covered), min(wait.end, to))
        guard begin < end else { continue }
        covered = end
        if wait.cause == .group {
          hole = (begin, end)
        } else {
          segments.append(segment(of: wait, of: current, step: step, from: begin, to: end))
        }
      }
      if current != place, covered < to {
        // The group had started, and its children were about to start.
        var segment = PathSegment(
          place: current, step: step, from: covered, to: to, kind: .wait(.group))
        (segment.name, segment.text) = (entry.name, "'\(entry.name.shown)'")
        segments.append(segment)
      }
      guard let hole else { break }
      guard let parent = entry.parent.flatMap({ places[$0] }) else {
        segments.append(
          PathSegment(
            place: current, step: step, from: hole.from, to: hole.to, kind: .wait(.group)))
        break
      }
      current = parent
      (from, to) = hole
    }
    return segments
  }

  private func segment(
    of wait: ProcedureTimeline.Wait, of place: Int, step: Int, from: Int64, to: Int64
  ) -> PathSegment {
    let entry = entries[place]
    var segment = PathSegment(
      place: place, step: step, from: from, to: to, kind: .wait(wait.cause))
    (segment.name, segment.text) = subject(of: wait, of: entry)
    // Barriers of one queue are one cause, for any names; so are delays.
    if wait.cause == .barrier || wait.cause == .delay && wait.blocker == nil {
      segment.home = slotSource(of: entry).nameText
    }
    return segment
  }

  /// The critical path's time in parts, in order and without gaps.
  ///
  /// While a step ran, a later step may have been ready, and kept back by the slot, the exclusion
  /// or the barrier that links it to the path. That time counts for this cause, since the later
  /// step might have run. The rest is work, even while a barrier waits for earlier procedures, as
  /// for dependencies.
  var pathSegments: [PathSegment] {
    let walk = pathWalk
    var segments: [PathSegment] = []
    var now = start
    // A segment begins where the previous one ended. Between the two nothing is missing, except for
    // the time between two threads' notes.
    func add(_ segment: PathSegment) {
      var segment = segment
      (segment.from, segment.to) = (now, min(segment.to, end))
      guard segment.length > 0 else { return }
      segments.append(segment)
      now = segment.to
    }
    for (number, step) in walk.enumerated() {
      let begin = entries[step.place].endOfWaits ?? end
      addWaits(of: step.place, number, until: begin, since: now, add)
      for run in runSegments(of: step.place, step: number) { add(run) }
      // Add the time of its groups after their last child had finished.
      var place = step.place
      while place != step.outermost,
        let parent = entries[place].parent.flatMap({ places[$0] })
      {
        place = parent
        for run in runSegments(of: place, step: number) { add(run) }
      }
    }
    if let last = segments.indices.last { segments[last].to = end }
    // Go back from the end: each step adds the waits of its successor.
    var parts: [PathSegment] = []
    var blocks: [PathSegment] = []
    var number = walk.count
    for segment in segments.reversed() {
      while number > segment.step + 1 {
        number -= 1
        blocks += blockedTime(walk[number].place, walk[number].step.link, step: number)
      }
      segment.split(by: &blocks, into: &parts)
    }
    return parts.reversed()
  }

  private func addWaits(
    of place: Int, _ number: Int, until begin: Int64, since now: Int64,
    _ add: (PathSegment) -> Void
  ) {
    guard now < begin else { return }
    var time = now
    for segment in waitSegments(of: place, step: number) where segment.to > time {
      if segment.from > time {
        add(
          PathSegment(
            place: place, step: number, from: time, to: min(segment.from, begin),
            kind: .notEnqueued))
      }
      var segment = segment
      segment.to = min(segment.to, begin)
      add(segment)
      time = max(time, segment.to)
    }
    if time < begin {
      add(PathSegment(place: place, step: number, from: time, to: begin, kind: .notEnqueued))
    }
  }

  /// The times in which its link to its predecessor kept a step back.
  private func blockedTime(
    _ place: Int, _ link: ProcedureTimeline.Step.Link, step: Int
  ) -> [PathSegment] {
    let cause: ProcedureTimeline.WaitCause
    switch link {
    case .slot: cause = .slot
    case .exclusion: cause = .exclusion
    case .barrier: cause = .barrier
    case .beginning, .dependency: return []
    }
    return waitSegments(of: place, step: step).filter {
      $0.kind == .wait(cause) && !entries[$0.place].stretches.contains(where: \.isOfBarrier)
    }
  }

  /// Returns its time from start to finish; waits after the start are separate from its work. Of one
  /// that never starts, returns the time from its cancel to its finish.
  private func runSegments(of place: Int, step: Int) -> [PathSegment] {
    let entry = entries[place]
    guard let started = entry.endOfWaits else { return [] }
    let finish = max(entry.times.finished ?? end, started)
    let isLingering = entry.times.started == nil && entry.times.cancelled != nil
    let kind: ProcedureTimeline.PathShare.Kind = isLingering ? .wait(.lingering) : .work
    func part(_ from: Int64, _ to: Int64, _ wait: ProcedureTimeline.Wait? = nil) -> PathSegment {
      var part =
        wait.map { segment(of: $0, of: place, step: step, from: from, to: to) }
        ?? PathSegment(place: place, step: step, from: from, to: to, kind: kind)
      part.isRunning = true
      return part
    }
    var parts: [PathSegment] = []
    var time = started
    for wait in entry.stretches.filter(\.cause.isAfterStart).sorted(by: { $0.from < $1.from }) {
      parts.append(part(time, wait.from))
      parts.append(part(max(time, wait.from), min(wait.end, finish), wait))
      time = max(time, wait.end)
    }
    parts.append(part(time, finish))
    return parts.filter { $0.length > 0 }
  }
}

extension PathSegment {
  /// Returns the part before `end`; nil if there is none.
  fileprivate func cut(to end: Int64) -> PathSegment? {
    guard from < end else { return nil }
    var part = self
    part.to = min(to, end)
    return part
  }

  /// Appends its parts, the last one first: work, and time that counts for a later step that was
  /// kept back.
  ///
  /// - Parameter blocks: waits of later steps, the nearest last; used ones are removed.
  fileprivate func split(by blocks: inout [PathSegment], into parts: inout [PathSegment]) {
    guard kind == .work else {
      parts.append(self)
      return
    }
    var rest = self
    while rest.length > 0 {
      // 1. Drop blocks that the earlier rest cannot reach.
      while let last = blocks.last, last.from >= rest.to { blocks.removeLast() }
      // 2. Take the nearest block that covers the end of the rest; a nearer block that ends earlier
      //    limits that part.
      var part = rest
      for block in blocks.reversed() where block.from < rest.to {
        if block.to >= rest.to {
          part.from = max(part.from, block.from)
          part.kind = block.kind
          (part.name, part.text) = (block.name, block.text)
          (part.home, part.waiter) = (block.home, block.waiter)
          break
        }
        part.from = max(part.from, block.to)
      }
      parts.append(part)
      rest.to = part.from
    }
  }
}

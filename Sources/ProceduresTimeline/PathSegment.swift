/// A part of the critical path's time: all of them, one after another, are the time from when the first
/// procedure was enqueued to when the last one finished.
struct PathSegment {
  /// Where its entry is.
  var place: Int
  /// The step that it belongs to.
  var step: Int
  var from: Int64
  var to: Int64
  var kind: ProcedureTimeline.PathShare.Kind
  /// Whether the entry ran meanwhile: if not, it waited, or was not enqueued yet.
  var isRunning = false
  /// Its subject: the condition, the category, the queue, the event.
  var name: String?

  var length: Int64 { to - from }
}

extension ProcedureTimeline.Snapshot {
  /// The waits of one procedure before it started, one after another. The group's own waits replace a wait
  /// for the group, as far as there are any.
  func waitSegments(of place: Int, step: Int) -> [PathSegment] {
    var segments: [PathSegment] = []
    var current = place
    var (from, to) = (entries[place].times.enqueued, Int64.max)
    while true {
      let entry = entries[current]
      var hole: (from: Int64, to: Int64)?
      var covered = from
      for wait in entry.stretches where !wait.cause.isAfterStart {
        let (begin, end) = (max(wait.from, from), min(wait.end, to))
        guard begin < end else { continue }
        covered = end
        if wait.cause == .group {
          hole = (begin, end)
        } else {
          segments.append(
            PathSegment(
              place: current, step: step, from: begin, to: end, kind: .wait(wait.cause),
              name: segmentName(of: wait, of: entry)))
        }
      }
      if current != place, covered < to {
        // The group had started, and was on its way to its children.
        segments.append(
          PathSegment(
            place: current, step: step, from: covered, to: to, kind: .wait(.group),
            name: entry.name))
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
    return segments.sorted { $0.from < $1.from }
  }

  private func segmentName(
    of wait: ProcedureTimeline.Wait, of entry: ProcedureTimeline.Entry
  ) -> String? {
    switch wait.cause {
    case .exclusion: wait.category
    case .slot: slotSource(of: entry).text(limit: wait.limit)
    case .suspension: slotSource(of: entry).nameText
    case .dependency, .barrier, .condition, .heldEvent, .observer, .mainActor, .attemptDelay,
      .worker:
      wait.blocker
    case .group, .lingering: nil
    }
  }

  /// The critical path's time in parts, without gaps, in order.
  ///
  /// The time of a step while the next was ready, and kept back by a slot, an exclusion or a barrier,
  /// counts for that cause: the next might have run meanwhile. The rest of its time is work.
  var pathSegments: [PathSegment] {
    let walk = pathWalk
    var segments: [PathSegment] = []
    var now = start
    func add(_ segment: PathSegment) {
      var segment = segment
      segment.from = max(segment.from, now)
      guard segment.from < segment.to else { return }
      segments.append(segment)
      now = segment.to
    }
    for (number, step) in walk.enumerated() {
      let entry = entries[step.place]
      let begin = entry.times.started ?? entry.times.cancelled ?? entry.times.finished ?? end
      addWaits(of: step.place, number, until: begin, since: now, add)
      let next = number + 1 < walk.count ? walk[number + 1] : nil
      let blocked = next.map { blockedTime($0.place, $0.step.link, step: number) } ?? []
      for run in runSegments(of: step.place, step: number) {
        for part in run.split(by: blocked) { add(part) }
      }
      // The time of its group after its last child had finished.
      var place = step.place
      while place != step.outermost,
        let parent = entries[place].parent.flatMap({ places[$0] })
      {
        place = parent
        for run in runSegments(of: place, step: number) { add(run) }
      }
    }
    return segments
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

  /// When the next step was kept back by the link that binds it to the one before.
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
    return waitSegments(of: place, step: step).filter { $0.kind == .wait(cause) }
  }

  /// From start to finish, with waits after the start apart from its own work.
  private func runSegments(of place: Int, step: Int) -> [PathSegment] {
    let entry = entries[place]
    guard let started = entry.times.started else { return [] }
    let finish = max(entry.times.finished ?? end, started)
    func part(_ from: Int64, _ to: Int64, _ wait: ProcedureTimeline.Wait? = nil) -> PathSegment {
      PathSegment(
        place: place, step: step, from: from, to: to, kind: wait.map { .wait($0.cause) } ?? .work,
        isRunning: true, name: wait.flatMap { segmentName(of: $0, of: entry) })
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
  /// In parts that count as work, and those during which the next step was kept back.
  fileprivate func split(by blocked: [PathSegment]) -> [PathSegment] {
    guard kind == .work else { return [self] }
    var parts: [PathSegment] = []
    var rest = self
    for block in blocked where block.to > rest.from && block.from < rest.to {
      var (before, inside) = (rest, rest)
      before.to = max(block.from, rest.from)
      inside.from = before.to
      inside.to = min(block.to, rest.to)
      inside.kind = block.kind
      inside.name = block.name
      rest.from = inside.to
      parts += [before, inside]
    }
    return (parts + [rest]).filter { $0.length > 0 }
  }
}

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
  /// The same, as text after the cause.
  var text: String?
  /// The entry that waited: another than the one that ran.
  var waiter: Int
  /// The queue or group of which subjects are one share, however many there are.
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
  /// The waits of one procedure before it started, one after another. The group's own waits replace a wait
  /// for the group, as far as there are any, and come before those of a child that was added later: so does what the group
  /// did until then.
  func waitSegments(of place: Int, step: Int) -> [PathSegment] {
    var segments = waitSegments(
      of: place, step: step, from: entries[place].times.enqueued, to: .max)
    var child = place
    while let group = entries[child].parent.flatMap({ places[$0] }) {
      let (from, to) = (entries[group].times.enqueued, entries[child].times.enqueued)
      if from < to {
        segments += waitSegments(of: group, step: step, from: from, to: to)
        segments += runSegments(of: group, step: step).compactMap { $0.cut(to: to) }
      }
      child = group
    }
    return segments.sorted { $0.from < $1.from }
  }

  /// Those of one procedure within some time.
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
      for wait in entry.stretches where !wait.cause.isAfterStart {
        let (begin, end) = (max(wait.from, from), min(wait.end, to))
        guard begin < end else { continue }
        covered = end
        if wait.cause == .group {
          hole = (begin, end)
        } else {
          segments.append(segment(of: wait, of: current, step: step, from: begin, to: end))
        }
      }
      if current != place, covered < to {
        // The group had started, and was on its way to its children.
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
    // Barriers of one queue, and delays, are one cause, whatever their names.
    if wait.cause == .barrier || wait.cause == .delay && wait.blocker == nil {
      segment.home = slotSource(of: entry).nameText
    }
    return segment
  }

  /// The critical path's time in parts, without gaps, in order.
  ///
  /// The time of a step while a later one was ready, and kept back by the slot, the exclusion or the barrier that
  /// binds it to the path, counts for that cause: the later one might have run meanwhile. The rest is work, also
  /// while a barrier waits for what was added before it, as for dependencies.
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
      for run in runSegments(of: step.place, step: number) { add(run) }
      // The time of its group after its last child had finished.
      var place = step.place
      while place != step.outermost,
        let parent = entries[place].parent.flatMap({ places[$0] })
      {
        place = parent
        for run in runSegments(of: place, step: number) { add(run) }
      }
    }
    // Back from the end: with each step come the waits of the one after it.
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

  /// When a step was kept back by the link that binds it to the one before.
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

  /// From start to finish, with waits after the start apart from its own work.
  private func runSegments(of place: Int, step: Int) -> [PathSegment] {
    let entry = entries[place]
    guard let started = entry.times.started else { return [] }
    let finish = max(entry.times.finished ?? end, started)
    func part(_ from: Int64, _ to: Int64, _ wait: ProcedureTimeline.Wait? = nil) -> PathSegment {
      var part =
        wait.map { segment(of: $0, of: place, step: step, from: from, to: to) }
        ?? PathSegment(place: place, step: step, from: from, to: to, kind: .work)
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
  /// Its part before that; nil if there is none.
  fileprivate func cut(to end: Int64) -> PathSegment? {
    guard from < end else { return nil }
    var part = self
    part.to = min(to, end)
    return part
  }

  /// Appends its parts, the last first: work, and what counts for a later step that was kept back meanwhile.
  ///
  /// - Parameter blocks: waits of later steps, the nearest last; those of which nothing is left are dropped.
  fileprivate func split(by blocks: inout [PathSegment], into parts: inout [PathSegment]) {
    guard kind == .work else {
      parts.append(self)
      return
    }
    var rest = self
    while rest.length > 0 {
      // 1. All that follows is earlier.
      while let last = blocks.last, last.from >= rest.to { blocks.removeLast() }
      // 2. The nearest that was kept back at the end of the rest; nearer ones count from where they end.
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

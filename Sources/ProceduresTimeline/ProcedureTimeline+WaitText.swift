extension ProcedureTimeline.Snapshot {
  /// Where a procedure takes its slot: a queue, or the group that it is a child of.
  struct SlotSource {
    let name: String
    let isGroup: Bool
    /// How many it lets run at once; nil if any number, or not known.
    let limit: Int?

    /// For example `queue 'build' (limit 2)`.
    var text: String {
      nameText + (limit.map { isGroup ? " (\($0) at once)" : " (limit \($0))" } ?? "")
    }

    /// For example `queue 'build'`.
    var nameText: String { "\(isGroup ? "group" : "queue") '\(name)'" }
  }

  func slotSource(of entry: ProcedureTimeline.Entry) -> SlotSource {
    if let parent = entry.parent {
      let name = self.entry(parent)?.name ?? ""
      return SlotSource(name: name, isGroup: true, limit: slotsOfGroups[parent])
    }
    return SlotSource(name: rootNames[entry.root], isGroup: false, limit: limits[entry.root])
  }

  /// The limit of a group is not recorded. Where a child waited for a slot all were in use: as many as ran
  /// at the same time.
  static func slotsOfGroups(in entries: [ProcedureTimeline.Entry]) -> [Int: Int] {
    var changes: [Int: [(time: Int64, change: Int)]] = [:]
    for entry in entries {
      guard let parent = entry.parent, entry.nanosecondsWaited(for: .slot) != 0 else { continue }
      changes[parent] = []
    }
    guard !changes.isEmpty else { return [:] }
    for entry in entries {
      guard let parent = entry.parent, changes[parent] != nil, let started = entry.times.started
      else { continue }
      changes[parent]?.append((started, 1))
      if let finished = entry.times.finished { changes[parent]?.append((finished, -1)) }
    }
    return changes.mapValues { changes in
      var (running, most) = (0, 0)
      for change in changes.sorted(by: { ($0.time, $0.change) < ($1.time, $1.change) }) {
        running += change.change
        most = max(most, running)
      }
      return most
    }
  }

  /// For example `1.2 s, for 'fetch'`: without the cause itself.
  func text(of wait: ProcedureTimeline.Wait, of entry: ProcedureTimeline.Entry) -> String {
    let reason = reason(of: wait, of: entry)
    return NumberText.time(wait.nanoseconds) + (reason.isEmpty ? "" : ", " + reason)
  }

  private func reason(
    of wait: ProcedureTimeline.Wait, of entry: ProcedureTimeline.Entry
  ) -> String {
    switch wait.cause {
    case .dependency, .barrier: wait.blocker.map { "for '\($0)'" } ?? ""
    case .condition: wait.blocker.map { "'\($0)'" } ?? ""
    case .exclusion:
      [wait.category.map { "'\($0)'" }, wait.blocker.map { "held by '\($0)'" }]
        .compactMap(\.self).joined(separator: " ")
    case .slot: "of \(slotSource(of: entry).text)"
    case .suspension: "of \(slotSource(of: entry).nameText)"
    case .heldEvent: wait.blocker.map { "'\($0)'" } ?? ""
    case .group, .worker: groupReason(of: wait, of: entry)
    }
  }

  /// For example `'tests' waited for dependency 'link'`.
  private func groupReason(
    of wait: ProcedureTimeline.Wait, of entry: ProcedureTimeline.Entry
  ) -> String {
    guard wait.cause == .group, let parent = entry.parent.flatMap({ self.entry($0) }) else {
      return ""
    }
    guard let cause = wait.groupCause else { return "'\(parent.name)'" }
    let name = (wait.category ?? wait.blocker).map { " '\($0)'" } ?? ""
    return "'\(parent.name)' waited for \(cause.label)\(name)"
  }
}

extension ProcedureTimeline.Snapshot {
  /// Where a procedure takes its slot: a queue, or the group that it is a child of.
  struct SlotSource {
    let name: String
    let isGroup: Bool

    /// For example `queue 'build' (limit 2)`.
    ///
    /// - Parameter limit: how many it let run at once as it was waited for.
    func text(limit: Int?) -> String {
      nameText + (limit.map { isGroup ? " (\($0) at once)" : " (limit \($0))" } ?? "")
    }

    /// For example `queue 'build'`.
    var nameText: String { "\(isGroup ? "group" : "queue") '\(name.shown)'" }
  }

  func slotSource(of entry: ProcedureTimeline.Entry) -> SlotSource {
    guard let parent = entry.parent else {
      return SlotSource(name: rootNames[entry.root], isGroup: rootsAreGroups[entry.root])
    }
    return SlotSource(name: self.entry(parent)?.name ?? "", isGroup: true)
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
    case .dependency, .barrier: wait.blocker.map { "for '\($0.shown)'" } ?? ""
    case .condition: wait.blocker.map { "'\($0.shown)'" } ?? ""
    case .exclusion:
      [wait.category.map { "'\($0.shown)'" }, wait.blocker.map { "held by '\($0.shown)'" }]
        .compactMap(\.self).joined(separator: " ")
    case .slot: "of \(slotSource(of: entry).text(limit: wait.limit))"
    case .suspension: "of \(slotSource(of: entry).nameText)"
    case .heldEvent, .observer, .mainActor, .worker, .lingering:
      wait.blocker.map { "'\($0.shown)'" } ?? ""
    case .attemptDelay: wait.blocker.map { "of '\($0.shown)'" } ?? ""
    case .group: groupReason(of: wait, of: entry)
    }
  }

  /// For example `'tests' waited for dependency 'link'`.
  private func groupReason(
    of wait: ProcedureTimeline.Wait, of entry: ProcedureTimeline.Entry
  ) -> String {
    guard wait.cause == .group, let parent = entry.parent.flatMap({ self.entry($0) }) else {
      return ""
    }
    guard let cause = wait.groupCause else { return "'\(parent.name.shown)'" }
    let name = (wait.category ?? wait.blocker).map { " '\($0.shown)'" } ?? ""
    return "'\(parent.name.shown)' waited for \(cause.label)\(name)"
  }
}

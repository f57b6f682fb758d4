internal import ProcedurePrimitives
internal import Procedures

extension ProcedureTimeline.Snapshot {
  /// The source of a procedure's slot: a queue, or the group that it is a child of.
  struct SlotSource {
    let name: String
    let isGroup: Bool

    /// For example `queue 'build' (limit 2)`.
    ///
    /// - Parameter limit: the limit at the time of the wait.
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

  /// Returns the length and the reason of a wait, such as `1.2 s, for 'fetch'`, without the cause.
  func text(of wait: ProcedureTimeline.Wait, of entry: ProcedureTimeline.Entry) -> String {
    let reason = reason(of: wait, of: entry)
    return NumberText.time(wait.nanoseconds) + (reason.isEmpty ? "" : ", " + reason)
  }

  private func reason(
    of wait: ProcedureTimeline.Wait, of entry: ProcedureTimeline.Entry
  ) -> String {
    switch wait.cause {
    case .dependency, .barrier: wait.blocker.map { "for '\($0.shown)'" } ?? ""
    case .exclusion, .rate:
      [subject(of: wait, of: entry).text, wait.blocker.map { "behind '\($0.shown)'" }]
        .compactMap(\.self).joined(separator: " ")
    case .group: groupReason(of: wait, of: entry)
    case .delay where wait.blocker == nil: ""
    default: subject(of: wait, of: entry).text ?? ""
    }
  }

  /// Returns the name of the awaited thing, and a text that follows the cause, such as
  /// `'licences' (2 at once)`.
  func subject(
    of wait: ProcedureTimeline.Wait, of entry: ProcedureTimeline.Entry
  ) -> (name: String?, text: String?) {
    func quoted(_ name: String?, _ before: String = "", _ after: String = "") -> (String?, String?)
    {
      (name, name.map { "\(before)'\($0.shown)'\(after)" })
    }
    switch wait.cause {
    case .dependency, .condition, .heldEvent, .observer, .mainActor, .worker:
      return quoted(wait.blocker)
    case .barrier: return quoted(wait.isOfBarrier ? entry.name : wait.blocker)
    case .exclusion, .rate: return quoted(wait.category, "", wait.limitText)
    case .delay:
      return wait.blocker.map { quoted($0, "between attempts of ") } ?? quoted(entry.name)
    case .slot:
      let text = slotSource(of: entry).text(limit: wait.limit)
      return (text, "of \(text)")
    case .suspension:
      let text = slotSource(of: entry).nameText
      return (text, "of \(text)")
    case .group, .lingering: return (nil, nil)
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

extension ProcedureTimeline.Wait {
  /// The limit of a category: ` (2 at once)`, ` (10 in 1 s)`.
  var limitText: String {
    guard let limit, category != nil else { return "" }
    return interval.map { " (\(limit) in \($0.short))" } ?? " (\(limit) at once)"
  }
}

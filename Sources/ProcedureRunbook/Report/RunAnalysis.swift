/// Explains the duration of a run: the chain of steps that ran one after another, and the use of
/// its slots.
struct RunAnalysis {
  struct Link: Equatable {
    let name: Name
    /// The time from the end of the previous step, or the start of the run, until it started.
    let wait: Duration
    let duration: Duration
  }

  /// The chain from the first step to the step that ended last. Before each step comes the one that
  /// it waited for last.
  let criticalPath: [Link]
  /// The average number of slots in use.
  let usedSlots: Double
  let slots: Int
  private let runCount: Int
  private let duration: Duration

  /// - Parameters:
  ///   - entries: the outcome of each step, in the order of the plan.
  ///   - duration: the duration of the whole run.
  init(_ plan: Plan, _ entries: [RunRecord.Entry], slots: Int, duration: Duration) {
    self.slots = slots
    self.duration = duration
    // A service takes no slot. The steps that need it wait until it is ready, so only that time
    // counts.
    let entries = zip(plan.steps, entries).map { step, entry in
      step.isService ? entry.ofGettingReady(step) : entry
    }
    let durations = zip(plan.steps, entries).compactMap { step, entry in
      step.isService ? nil : entry.durationInRun
    }
    criticalPath = durations.isEmpty ? [] : LastEnds(plan, entries).links()
    runCount = durations.count
    let work = durations.reduce(.zero, +)
    usedSlots = duration > .zero ? work / duration : 0
  }

  /// The lines for a reader; empty for a run of one step, about which they would say nothing new.
  var lines: [String] {
    guard runCount > 1 else { return [] }
    let length = criticalPath.reduce(.zero) { $0 + $1.duration }
    return [
      "critical path: \(length.text) of \(duration.text): \(chainText)",
      "jobs: \(Self.tenths(usedSlots)) of \(slots) in use on average",
    ]
  }

  /// The first and the last steps; those in between are only counted.
  private var chainText: String {
    var texts = criticalPath.map { "\($0.name.visible.cut(to: 30)) \($0.duration.text)" }
    if texts.count > 8 {
      texts.replaceSubrange(4..<(texts.count - 3), with: ["(\(texts.count - 7) more)"])
    }
    return texts.joined(separator: " → ")
  }

  /// Rounds to one digit behind the point.
  static func tenths(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}

extension RunRecord.Entry {
  fileprivate func ofGettingReady(_ step: Step) -> Self {
    guard let untilReady else { return Self(step, outcome) }
    return Self(
      step, outcome, start: start, duration: untilReady, attempts: attempts, lastOutput: [])
  }
}

/// Finds for each step the step that ended last among those before it.
///
/// Steps that did not run are skipped: a later step waited for the steps before them. So are
/// groups. Each step and each membership is visited once.
private struct LastEnds {
  private let entries: [RunRecord.Entry]
  private var indexByName: [Name: Int] = [:]
  /// The step that ended last of a step and the steps before it, if any of them ran.
  private var latest: [Name: Int] = [:]
  /// The step that a step waited for last.
  private var previous: [Int: Int] = [:]

  init(_ plan: Plan, _ entries: [RunRecord.Entry]) {
    self.entries = entries
    for (index, entry) in entries.enumerated() { indexByName[entry.name] = index }
    let members = Dictionary(grouping: plan.steps.filter { $0.group != nil }) { $0.group ?? "" }
    for index in plan.graph.stepOrder {
      let name = plan.steps[index].name
      var last: Int?
      let names = plan.steps[index].after
      // A follow-up without names comes after all others.
      let isLast = names.isEmpty && plan.steps[index].isFollowUp
      for other in isLast ? plan.graph.stepsBefore(index).map({ plan.steps[$0].name }) : names {
        if latest[other] == nil, let steps = members[other] {
          // All members come earlier in this order.
          latest[other] = later(of: steps.compactMap { latest[$0.name] })
        }
        last = later(of: [last, latest[other]].compactMap { $0 })
      }
      previous[index] = last
      latest[name] = end(of: index) == nil ? last : index
    }
  }

  func links() -> [RunAnalysis.Link] {
    var links: [RunAnalysis.Link] = []
    var next = later(of: Array(entries.indices))
    while let index = next, let start = entries[index].start {
      next = previous[index]
      let before = next.flatMap(end) ?? .zero
      links.append(
        RunAnalysis.Link(
          name: entries[index].name, wait: max(.zero, start - before),
          duration: entries[index].durationInRun ?? .zero))
    }
    return links.reversed()
  }

  private func end(of index: Int) -> Duration? {
    entries[index].start.map { $0 + (entries[index].duration ?? .zero) }
  }

  private func later(of indices: [Int]) -> Int? {
    var result: (index: Int, end: Duration)?
    for index in indices {
      guard let end = end(of: index), result.map({ $0.end < end }) ?? true else { continue }
      result = (index, end)
    }
    return result?.index
  }
}

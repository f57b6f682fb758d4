/// Why a run took as long as it did: the chain of steps that came one after another, and how much
/// of its slots it used.
struct RunAnalysis {
  /// A step of the chain.
  struct Link: Equatable {
    let name: Name
    /// How long after the end of the one before, or the start of the run, it was started.
    let wait: Duration
    let duration: Duration
  }

  /// From the first step to the one that ended last; what each was after and ended last is before it.
  let criticalPath: [Link]
  /// How many slots were in use on average.
  let usedSlots: Double
  let slots: Int
  private let runCount: Int
  private let duration: Duration

  /// - Parameters:
  ///   - entries: how each step of the plan ended, in the order of the plan.
  ///   - duration: of the whole run.
  init(_ plan: Plan, _ entries: [RunRecord.Entry], slots: Int, duration: Duration) {
    self.slots = slots
    self.duration = duration
    // A service takes no slot. What needs it waits until it is ready, and it waits for the end of that.
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

  /// For a reader; none for a run of one step, of which it would say nothing new.
  var lines: [String] {
    guard runCount > 1 else { return [] }
    let length = criticalPath.reduce(.zero) { $0 + $1.duration }
    return [
      "critical path: \(length.text) of \(duration.text): \(chainText)",
      "jobs: \(Self.tenths(usedSlots)) of \(slots) in use on average",
    ]
  }

  /// The first steps and the last ones; what stands between is only counted.
  private var chainText: String {
    var texts = criticalPath.map { "\($0.name.visible.cut(to: 30)) \($0.duration.text)" }
    if texts.count > 8 {
      texts.replaceSubrange(4..<(texts.count - 3), with: ["(\(texts.count - 7) more)"])
    }
    return texts.joined(separator: " → ")
  }

  /// With one digit behind the point.
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

/// Finds for each step what ended last of that which it was after.
///
/// A step that did not run is looked through: what is after it waited for what it was after. So is a
/// group. Each step and each membership is looked at once.
private struct LastEnds {
  private let entries: [RunRecord.Entry]
  private var indexByName: [Name: Int] = [:]
  /// The step that ended last of a step and what it was after, if any of that ran.
  private var latest: [Name: Int] = [:]
  /// What the step waited for in the end.
  private var previous: [Int: Int] = [:]

  init(_ plan: Plan, _ entries: [RunRecord.Entry]) {
    self.entries = entries
    for (index, entry) in entries.enumerated() { indexByName[entry.name] = index }
    let members = Dictionary(grouping: plan.steps.filter { $0.group != nil }) { $0.group ?? "" }
    for index in plan.graph.stepOrder {
      let name = plan.steps[index].name
      var last: Int?
      let names = plan.steps[index].after
      // What comes after all others has no names.
      let isLast = names.isEmpty && plan.steps[index].isFollowUp
      for other in isLast ? plan.graph.stepsBefore(index).map({ plan.steps[$0].name }) : names {
        if latest[other] == nil, let steps = members[other] {
          // All of them come earlier in this order.
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

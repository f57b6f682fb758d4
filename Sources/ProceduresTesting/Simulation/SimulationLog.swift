internal import ProcedurePrimitives
internal import Procedures

/// The events of a simulation, in order.
struct SimulationLog: Sendable {
  enum Event: Sendable {
    case willExecute
    case didExecute
    case didCancel([any Error])
    case willFinish
    case didFinish(ProcedureOutcome)
    /// A note of the test.
    case note
  }

  private struct Entry: Sendable {
    let nanoseconds: UInt64
    let name: String
    let event: Event
  }

  private var entries: [Entry] = []
  private var names: Set<String> = []
  /// The number for the next procedure of a name; the numbered name may already be taken.
  private var nextNumbers: [String: Int] = [:]
  private var hasher = Hasher()
  /// The procedures that were put aside, or that ran instead, by a decision that was not the
  /// obvious one.
  private var decisive: Set<String> = []
  /// Whether the next line belongs to such a decision.
  private var isNextDecisive = false

  var count: Int { entries.count }

  /// Equal for two runs with the same lines, within this process.
  var fingerprint: Int { hasher.finalize() }

  /// A name that no other procedure of the run has.
  mutating func uniqueName(for name: String) -> String {
    if names.insert(name).inserted { return name }
    while true {
      let number = nextNumbers[name, default: 2]
      nextNumbers[name] = number + 1
      let unique = "\(name) \(number)"
      if names.insert(unique).inserted { return unique }
    }
  }

  mutating func note(_ event: Event, of name: String, at nanoseconds: UInt64) {
    entries.append(Entry(nanoseconds: nanoseconds, name: name, event: event))
    hasher.combine(nanoseconds)
    hasher.combine(name)
    hasher.combine(event.number)
    if isNextDecisive {
      decisive.insert(name)
      isNextDecisive = false
    }
  }

  /// Records that the next step is not the obvious one.
  ///
  /// - Parameter name: the procedure that was put aside for it, if any.
  mutating func noteDecision(insteadOf name: String?) {
    if let name { decisive.insert(name) }
    isNextDecisive = true
  }

  /// One line for each event: seconds, name, event.
  var text: String { text(of: entries) }

  /// At most some two hundred lines. A long log is reduced to lines of decisive procedures, the
  /// test's notes, and lines of procedures that `reason` names; then to the last of them.
  func shortText(because reason: String) -> String {
    let most = 200
    guard entries.count > most else { return text }
    var matters: [String: Bool] = [:]
    let kept = entries.filter { entry in
      if case .note = entry.event { return true }
      if let known = matters[entry.name] { return known }
      let isKept = decisive.contains(entry.name) || reason.contains("'\(entry.name.onOneLine)'")
      matters[entry.name] = isKept
      return isKept
    }
    let shown = kept.isEmpty ? entries.suffix(50) : kept.suffix(most)
    let lines = text(of: shown)
    return "… \(entries.count - shown.count) other lines are in the error's log.\n"
      + lines
  }

  private func text(of entries: some Sequence<Entry>) -> String {
    var text = ""
    for entry in entries {
      let (seconds, rest) = entry.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
      let fraction = String(rest)
      text += "\(seconds)." + String(repeating: "0", count: 9 - fraction.count) + fraction
      text += "  \(entry.name.onOneLine)\(entry.event.text)\n"
    }
    return text
  }
}

extension SimulationLog.Event {
  fileprivate var number: Int {
    switch self {
    case .willExecute: 0
    case .didExecute: 1
    case .didCancel: 2
    case .willFinish: 3
    case .didFinish(.succeeded): 4
    case .didFinish(.failed): 5
    case .didFinish(.cancelled): 6
    case .note: 7
    }
  }

  fileprivate var text: String {
    switch self {
    case .willExecute: " will execute"
    case .didExecute: " did execute"
    case .didCancel(let errors): " did cancel" + errors.suffix
    case .willFinish: " will finish"
    case .didFinish(let outcome): " did finish: \(outcome)"
    case .note: ""
    }
  }
}

internal import Procedures

/// The events of a simulation, in order.
struct SimulationLog: Sendable {
  enum Event: Sendable {
    case willExecute
    case didExecute
    case didCancel([any Error])
    case willFinish
    case didFinish(ProcedureOutcome)
    /// Something that the test noted.
    case note
  }

  private struct Entry: Sendable {
    let nanoseconds: UInt64
    let name: String
    let event: Event
  }

  private var entries: [Entry] = []
  private var names: Set<String> = []
  /// The number that the next procedure of a name gets; another procedure may have that name itself.
  private var nextNumbers: [String: Int] = [:]
  private var hasher = Hasher()
  /// Those that were put aside, or came instead, with a decision that was not the obvious one.
  private var decisive: Set<String> = []
  /// Whether the next line is of something that did.
  private var isNextDecisive = false

  /// How many lines there are.
  var count: Int { entries.count }

  /// The same for two runs with the same lines, in this process.
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

  /// Something else than the obvious comes next.
  ///
  /// - Parameter name: of the procedure that was put aside for it, if one was.
  mutating func noteDecision(insteadOf name: String?) {
    if let name { decisive.insert(name) }
    isNextDecisive = true
  }

  /// One line for each event: seconds, name, what happened.
  var text: String { text(of: entries) }

  /// No more than some two hundred lines: of a long log those of procedures to which a decision came, what the test
  /// noted, and lines that `reason` names; then the last ones.
  func shortText(because reason: String) -> String {
    let most = 200
    guard entries.count > most else { return text }
    var matters: [String: Bool] = [:]
    let kept = entries.filter { entry in
      if case .note = entry.event { return true }
      if let known = matters[entry.name] { return known }
      let isKept = decisive.contains(entry.name) || reason.contains("'\(entry.name)'")
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
      text += "  \(entry.name)\(entry.event.text)\n"
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

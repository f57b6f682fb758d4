internal import Procedures

/// What has happened in a simulation, in order.
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

  /// A name that no other procedure of the run has.
  mutating func uniqueName(for name: String) -> String {
    var unique = name
    var number = 2
    while !names.insert(unique).inserted {
      unique = "\(name) \(number)"
      number += 1
    }
    return unique
  }

  mutating func note(_ event: Event, of name: String, at nanoseconds: UInt64) {
    entries.append(Entry(nanoseconds: nanoseconds, name: name, event: event))
  }

  /// One line for each event: seconds, name, what happened.
  var text: String {
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

internal import ProcedurePrimitives
public import ProceduresTimeline

/// The fault in a simulation, and how to see it again.
public struct SimulationError: Error, CustomStringConvertible {
  /// The seed of the run.
  public let seed: UInt64

  /// The decisions of the run, in order: they repeat it.
  public let draws: [Int]

  /// The fault.
  public let reason: any Error

  /// The events up to the fault, one line for each.
  public let log: String

  /// The timeline of a run of `explore`: it shows where the time went, also as a page.
  ///
  /// ```swift
  /// catch let error as SimulationError {
  ///   print(error.timeline?.html() ?? "")
  /// }
  /// ```
  public internal(set) var timeline: ProcedureTimeline.Snapshot?

  /// Whether the same decisions gave the same run again. If not, something outside the simulation
  /// decides: real time, a thread, a task of its own, or state that outlives the run. Only
  /// `explore` and `exploreAll` check it.
  public internal(set) var repeats = true

  /// The relevant lines of a long log.
  let shortLog: String

  /// The procedures in which threads outside the simulation had a hand: threads of real time, of
  /// tasks and queues of the code under test, of the main actor.
  public let foreignNames: [String]

  /// The fault, how to repeat it, and the events up to it.
  public var description: String {
    let run = Self.instruction(seed: seed, draws: draws)
    let happens =
      repeats
      ? "It happens with \(run):"
      : """
      It happened with \(run), and does not repeat: something outside the simulation decides, such as real time, a \
      thread, a task of its own, or state that outlives the run.
      """
    var foreign = ""
    if !foreignNames.isEmpty {
      let names = foreignNames.prefix(5).map { "'\($0.onOneLine)'" }.joined(separator: ", ")
      foreign = "\nThreads outside the simulation had a hand in \(names).\n"
    }
    let failure = reason as? SimulationFailure
    let unfinished = failure.map(\.unfinished) ?? ""
    return """
      \(failure?.verdict ?? "\(reason)")
      \(foreign)
      \(happens)
      \(unfinished.isEmpty ? "" : "\(unfinished)\n\n")\(shortLog)\(timeline == nil ? "" : "error.timeline has it as a page, by html().\n")
      """
  }
}

extension SimulationError {
  /// The expression that makes the simulation of the run.
  static func instruction(seed: UInt64, draws: [Int]) -> String {
    "ProcedureSimulation(seed: \(seed), draws: \(text(of: draws)))"
  }

  /// For example `[1] + Array(repeating: 0, count: 812) + [2]`. Trailing zeros are left out, since
  /// 0 is the default.
  private static func text(of draws: [Int]) -> String {
    var parts: [String] = []
    var shown: [Int] = []
    var zeros = 0
    func list(_ numbers: [Int]) -> String {
      "[\(numbers.map(String.init).joined(separator: ", "))]"
    }
    for decision in draws {
      if decision == 0 {
        zeros += 1
        continue
      }
      if zeros >= 20 {
        if !shown.isEmpty { parts.append(list(shown)) }
        parts.append("Array(repeating: 0, count: \(zeros))")
        shown = []
      } else {
        shown += [Int](repeating: 0, count: zeros)
      }
      shown.append(decision)
      zeros = 0
    }
    if !shown.isEmpty || parts.isEmpty { parts.append(list(shown)) }
    return parts.joined(separator: " + ")
  }
}

/// The reason for a failed simulation, unless the test threw an error.
struct SimulationFailure: Error, CustomStringConvertible {
  /// The fault in some lines, which a report begins with.
  var verdict: String
  /// Snapshots of the queues; empty if they do not matter.
  var unfinished = ""

  var description: String { unfinished.isEmpty ? verdict : "\(verdict)\n\(unfinished)" }
}

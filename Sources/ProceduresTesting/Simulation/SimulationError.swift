public import ProceduresTimeline

/// The fault in a simulation, and how to see it again.
public struct SimulationError: Error, CustomStringConvertible {
  /// The seed of the run.
  public let seed: UInt64

  /// The decisions of the run, in order: with these the same happens again.
  public let draws: [Int]

  /// The fault.
  public let reason: any Error

  /// The events until then, one line for each.
  public let log: String

  /// Where the time of each procedure went, if the run was that of `explore`: to be written as a page.
  ///
  /// ```swift
  /// catch let error as SimulationError {
  ///   print(error.timeline?.html() ?? "")
  /// }
  /// ```
  public internal(set) var timeline: ProcedureTimeline.Snapshot?

  /// The fault, how to see it again, and the events until then.
  public var description: String {
    // What follows the last decision that is not the first choice would be decided so anyway.
    let last = draws.lastIndex { $0 != 0 }
    let given = last.map { draws[...$0] } ?? []
    let numbers = given.map(String.init).joined(separator: ", ")
    return """
      \(reason)

      It happens with ProcedureSimulation(seed: \(seed), draws: [\(numbers)]):
      \(log)\(timeline == nil ? "" : "error.timeline has it as a page, by html().\n")
      """
  }
}

/// Why a simulation failed, if not by an error of the test's own.
struct SimulationFailure: Error, CustomStringConvertible {
  let description: String
}

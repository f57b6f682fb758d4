internal import ProcedurePrimitives

/// Checks that steps happen in the expected order, on any threads.
///
/// ```swift
/// let steps = Steps()
/// first.addDidFinishBlockObserver { _, _ in steps.expect(1) }
/// second.addWillExecuteBlockObserver { _, _ in steps.expect(2) }
/// queue.add(first, second)
/// await queue.waitUntilAllFinished()
/// try steps.finish(3)
/// ```
///
/// `expect` only records, so that you can call it where nothing can be thrown. `finish` is the last
/// step, and throws if any step came out of order, twice, or not at all.
public final class Steps: Sendable {
  private struct Step: Sendable {
    let number: Int
    let location: String
  }

  private let steps = Locked<[Step]>([])

  /// Makes an empty record.
  public init() {}

  /// Records that step `number` happens here.
  public func expect(_ number: Int, file: StaticString = #fileID, line: UInt = #line) {
    let step = Step(number: number, location: "\(file):\(line)")
    steps.withLock { $0.append(step) }
  }

  /// The last step: throws a `StepsError` unless 1, 2 … `number` have happened, in this order.
  public func finish(_ number: Int, file: StaticString = #fileID, line: UInt = #line) throws {
    expect(number, file: file, line: line)
    if let report = report(upTo: number) { throw StepsError(description: report) }
  }

  /// The faults of the steps so far, line by line; nil if they are in order.
  public var report: String? { report(upTo: steps.withLock { $0.count }) }

  private func report(upTo count: Int) -> String? {
    let steps = steps.withLock { $0 }
    guard steps.map(\.number) != Array(1...max(count, 1)), count > 0 || !steps.isEmpty else {
      return nil
    }
    var lines = ["The steps were not 1 to \(count) in this order:"]
    for (index, step) in steps.enumerated() {
      let isRight = step.number == index + 1
      lines.append("\(isRight ? " " : "!") \(step.number)  \(step.location)")
    }
    for number in 1...max(count, 1) where !steps.contains(where: { $0.number == number }) {
      lines.append("- \(number)  did not happen")
    }
    return lines.joined(separator: "\n")
  }
}

/// The error for steps that did not come in the expected order.
public struct StepsError: Error, CustomStringConvertible {
  /// Each step that came, with its place, and the missing ones.
  public let description: String
}

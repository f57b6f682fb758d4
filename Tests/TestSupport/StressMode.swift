internal import Dispatch
internal import Foundation

/// Whether the environment asks for the long runs: `STRESS=1 swift test`.
package enum StressMode {
  package static let isOn = ProcessInfo.processInfo.environment["STRESS"] != nil

  /// How often a race is run: some hundreds of times, thousands under stress.
  package static let rounds = isOn ? 10_000 : 400
}

/// Runs closures at the same moment, each on a thread of its own, and returns when all have.
package func race(_ bodies: (@Sendable () -> Void)...) {
  let waiting = SpinGate(parties: bodies.count)
  DispatchQueue.concurrentPerform(iterations: bodies.count) { index in
    waiting.arriveAndSpin()
    bodies[index]()
  }
}

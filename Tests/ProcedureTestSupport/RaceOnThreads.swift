internal import Dispatch

/// Runs closures at the same moment, each on a thread of its own, and returns when all have.
///
/// For races of a few instructions: closer together than `race`, which starts tasks.
package func raceOnThreads(_ bodies: (@Sendable () -> Void)...) {
  let gate = SpinGate(parties: bodies.count)
  DispatchQueue.concurrentPerform(iterations: bodies.count) { index in
    gate.arriveAndSpin()
    bodies[index]()
  }
}

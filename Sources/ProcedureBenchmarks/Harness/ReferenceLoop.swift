internal import Dispatch
internal import Foundation
internal import Synchronization

/// A fixed piece of arithmetic on every core at once, between any two measurements.
///
/// It touches no memory and calls nothing, so that it takes the same time always, unless another
/// process has a core, or the machine changes its speed. It is longer than the slice of time that a
/// scheduler gives to others. Its variation is that of the machine.
enum ReferenceLoop {
  /// How long the slowest core took, in nanoseconds, each counted from its own start.
  static func run() -> Double {
    let slowest = Mutex(0.0)
    DispatchQueue.concurrentPerform(iterations: cores) { _ in
      let elapsed = ContinuousClock().measure { blackHole(spin()) }.nanoseconds
      slowest.withLock { $0 = max($0, elapsed) }
    }
    return slowest.withLock { $0 }
  }

  private static let cores = ProcessInfo.processInfo.activeProcessorCount

  /// Some milliseconds of multiplications each of which needs the one before.
  @inline(never)
  private static func spin() -> UInt64 {
    var value: UInt64 = 88_172_645_463_325_252
    for _ in 0..<3_000_000 {
      value = value &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    }
    return value
  }
}

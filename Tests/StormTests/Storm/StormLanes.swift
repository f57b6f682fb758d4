import Dispatch
import Foundation
import ProcedurePrimitives
import Synchronization

/// Several rounds at a time, one after another, on threads of their own.
final class StormLanes: Sendable {
  private let next: Atomic<UInt64>
  private let end: UInt64
  private let deadline: ContinuousClock.Instant
  private let options: StormRound.Options
  private let keepsGoing: Bool
  private let failures = Locked<[String]>([])
  private let count = Atomic<Int>(0)

  /// - Parameters:
  ///   - seeds: of the rounds.
  ///   - time: after which no round begins.
  ///   - keepsGoing: whether more rounds begin when one was not as promised.
  init(
    seeds: Range<UInt64>, time: Duration, options: StormRound.Options = .init(),
    keepsGoing: Bool = false
  ) {
    next = Atomic(seeds.lowerBound)
    end = seeds.upperBound
    deadline = ContinuousClock.now + time
    self.options = options
    self.keepsGoing = keepsGoing
  }

  /// How many rounds there were.
  var roundCount: Int { count.load(ordering: .acquiring) }

  /// - Parameter say: called with what was not as promised, and now and then with the seed that
  ///   comes next.
  /// - Returns: what was not as promised.
  @discardableResult
  func run(_ lanes: Int, _ say: @escaping @Sendable (String) -> Void = { _ in }) -> [String] {
    let isDone = DispatchSemaphore(value: 0)
    for _ in 0..<lanes {
      Thread.detachNewThread { [self] in
        while let seed = take() {
          if seed % 500 == 0 { say("storm: seed \(seed)") }
          let objections = StormRound(seed: seed, options: options).run()
          count.add(1, ordering: .relaxed)
          guard !objections.isEmpty else { continue }
          let text = "storm: seed \(seed) failed:\n" + objections.joined(separator: "\n")
          say(text)
          failures.withLock { $0.append(text) }
        }
        isDone.signal()
      }
    }
    for _ in 0..<lanes { isDone.wait() }
    return failures.withLock { $0 }
  }

  private func take() -> UInt64? {
    guard keepsGoing || failures.withLock({ $0.isEmpty }), ContinuousClock.now < deadline else {
      return nil
    }
    let seed = next.add(1, ordering: .relaxed).oldValue
    return seed < end ? seed : nil
  }
}

internal import Foundation

/// How thoroughly races are tried: some dozens of times, or, with STRESS set, thousands.
package enum Rounds {
  package static let isStress = ProcessInfo.processInfo.environment["STRESS"] != nil

  /// Whether ThreadSanitizer looks, which makes everything some ten times as slow.
  #if TSAN
    package static let isSanitized = true
  #else
    package static let isSanitized = false
  #endif

  /// Whether the optimiser has been at work: in its code more rounds take no longer.
  #if DEBUG
    private static let isOptimised = false
  #else
    private static let isOptimised = true
  #endif

  /// The rounds of one race.
  package static var few: Int { isStress ? 10_000 : isSanitized || isOptimised ? 50 : 15 }

  /// A size: the full one with STRESS set, otherwise one that suffices to see the mistake looked
  /// for. ThreadSanitizer looks for mistakes that do not take size.
  package static func size(_ full: Int, otherwise few: Int) -> Int {
    isStress ? full : isSanitized ? few / 5 : few
  }
}

/// Runs closures at the same moment, as nearly as that can be had, and waits for all of them.
package func race(_ runners: (@Sendable () -> Void)...) async {
  await withTaskGroup { group in
    for runner in runners { group.addTask { runner() } }
  }
}

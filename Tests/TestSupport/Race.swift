internal import Foundation

/// How thoroughly races are tried: some hundreds of times, or, with STRESS set, thousands.
package enum Rounds {
  package static let isStress = ProcessInfo.processInfo.environment["STRESS"] != nil

  /// The rounds of one race.
  package static var few: Int { isStress ? 10_000 : 300 }

  /// A size: the full one with STRESS set, otherwise one that suffices to see the mistake looked for.
  package static func size(_ full: Int, otherwise few: Int) -> Int { isStress ? full : few }
}

/// Runs closures at the same moment, as nearly as that can be had, and waits for all of them.
package func race(_ runners: (@Sendable () -> Void)...) async {
  await withTaskGroup { group in
    for runner in runners { group.addTask { runner() } }
  }
}

import Procedures
import ProceduresTesting

/// A random piece of work, as a description: what there is, and what is done to it when.
///
/// Times are in units of the stage that it is performed on.
struct WorkloadPlan: Sendable {
  enum Kind: Sendable {
    case instant
    case failing
    /// Finishes from outside after a while.
    case manual(after: Int, endsWhenCancelled: Bool)
    case delay(Int)
    /// - Parameter isPlain: a `GroupProcedure` itself, which hears its children in another way.
    case group(limit: Int, cancelsRemaining: Bool, isPlain: Bool)
  }

  enum Verdict: CaseIterable, Sendable {
    case satisfied, ignored, failed
  }

  struct Check: Sendable {
    let verdict: Verdict
    let isAsynchronous: Bool
  }

  enum Entrance: Sendable {
    /// With its group's `init`, or onto its queue at the beginning.
    case atOnce
    case after(Int)
    /// In the `execute()` of its group.
    case inExecute
  }

  struct Item: Sendable {
    var kind: Kind
    /// The group that it is in.
    var parent: Int?
    var queue: Int
    var entrance = Entrance.atOnce
    var dependencies: [(item: Int, requirement: DependencyRequirement)] = []
    var checks: [Check] = []
    var categories: Set<Int> = []
    var isObserved = true
    var holdsExecute: Int?
    var holdsFinish: Int?
    var isCancelledBefore = false
    var hasToken = false

    var isGroup: Bool { if case .group = kind { true } else { false } }
    var isPlainGroup: Bool { if case .group(_, _, true) = kind { true } else { false } }
  }

  enum Action: Sendable {
    case cancel(Int, withError: Bool)
    case fireToken(Int)
    case suspendQueue(Int, until: Int)
    case suspendGroup(Int, until: Int)
    case cancelAll(queue: Int)
    case observe(Int)
  }

  var limits: [Int] = []
  var items: [Item] = []
  var actions: [(time: Int, action: Action)] = []

  /// The groups around an item, innermost first.
  func ancestors(of index: Int) -> [Int] {
    Array(sequence(first: index) { items[$0].parent }.dropFirst())
  }
}

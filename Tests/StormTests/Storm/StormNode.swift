import Cancellation
import ProcedurePrimitives
import Procedures

/// An error that says which node it is of.
struct StormError: Error, Equatable {
  let id: Int
}

/// What the storm's model knows of one procedure: how it was made, and what was seen of it.
///
/// It does not own the procedure, except in `slot`, which any thread of the round may empty.
///
/// What is not guarded by `record` or a lock of its own is set by the thread that makes the node,
/// before others can find it.
final class StormNode: @unchecked Sendable {
  /// What happens in the turns of a procedure. In this order, but for a cancel, which may come
  /// anywhere before `willFinish`.
  enum Moment: Int, Comparable, Sendable {
    case didAttach, willExecute, execute, didExecute
    case procedureDidCancel, didCancel
    case procedureWillFinish, willFinish, procedureDidFinish, didFinish
    /// The last observer that was there from the beginning has returned.
    case end

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    var isOfCancel: Bool { self == .procedureDidCancel || self == .didCancel }
  }

  struct Dependency: Sendable {
    let node: StormNode
    let requirement: DependencyRequirement
    let isInjected: Bool
    /// Set before somebody takes it back.
    let mayBeGone: Flag
  }

  struct Record: Sendable {
    var moments: [(moment: Moment, time: Int)] = []
    var outcome: ProcedureOutcome?
    /// What the `cancel` that returned true was given, and the `finish`.
    var cancelErrors: [[Int]] = []
    var finishErrors: [[Int]] = []
    var isDelivered = false
    /// When `add` was called, and whether that accepted it; nil before it has returned.
    var addTime: Int?
    var isAccepted: Bool?
    /// Looked at when a round hangs.
    weak var procedure: Procedure?
    var token: CancellationToken?

    func time(of moment: Moment) -> Int? { moments.first { $0.moment == moment }?.time }
  }

  enum Kind: Sendable { case traced, readyMade, group }

  let id: Int
  let kind: Kind
  let round: StormRound
  let parent: StormNode?
  /// Which queue its top is on; nil if it is that of the main thread, or none of the round's.
  var queue: StormQueue?
  var isTop: Bool { parent == nil }
  var isBarrier = false
  /// Whether it gives its slot up now and then. Then its attempts enter what it has with that.
  var rests = false
  /// What it excludes others from.
  var exclusions: [StormExclusion] = []
  var dependencies: [Dependency] = []
  /// A group that begins suspended may begin when this is set; nil for others.
  var mayBegin: Flag?
  var limit: HighestLimit?
  var failsOthers = false
  /// Set before something is done that may cancel it, whatever that is.
  let mayBeCancelled = Flag()
  /// Set when it is certain, before it is added, that it does not execute.
  let neverExecutes = Flag()

  /// The procedure, until a thread of the round lets go of it.
  let slot = Locked<Procedure?>(nil)
  let record = Locked(Record())
  private let isInside = Flag()

  /// Whether it was made to be released without having been added.
  var isNeverAdded = false

  init(_ id: Int, _ kind: Kind, in round: StormRound, parent: StormNode?) {
    self.id = id
    self.kind = kind
    self.round = round
    self.parent = parent
  }

  /// From here on other threads find the procedure.
  func publish(_ procedure: Procedure) {
    record.withLock { $0.procedure = procedure }
    slot.withLock { $0 = procedure }
  }

  /// `add` is about to be called.
  func noteAdd() {
    let time = round.tick()
    record.withLock { $0.addTime = time }
  }

  var procedure: Procedure? { slot.withLock { $0 } }
  var outcome: ProcedureOutcome? { record.withLock { $0.outcome } }

  /// A turn: what `body` does must not overlap anything else in a turn of this procedure.
  func turn(_ moment: Moment, _ body: () -> Void = {}) {
    if isInside.exchange(true) { round.object("T1: \(self): \(moment) overlaps another turn") }
    let time = round.tick()
    record.withLock { $0.moments.append((moment, time)) }
    body()
    isInside.clear()
  }

  /// A turn of an observer of which nothing else is noted.
  func visit() {
    if isInside.exchange(true) { round.object("T1: \(self): an observer overlaps another turn") }
    isInside.clear()
  }

  func cancel(_ errors: [Int], _ procedure: Procedure) {
    mayBeCancelled.set()
    guard procedure.cancel(withErrors: errors.map(StormError.init)) else { return }
    if !procedure.isCancelled {
      round.object("C1: \(self): cancel returned, and it reads uncancelled")
    }
    record.withLock { $0.cancelErrors.append(errors) }
  }

  /// Whether nothing at all could have cancelled it.
  var hasNoCauseOfCancel: Bool {
    if mayBeCancelled.isSet || round.mayCancelAnything.isSet || queue?.mayCancel.isSet == true {
      return false
    }
    if let parent, parent.failsOthers || !parent.hasNoCauseOfCancel { return false }
    return dependencies.allSatisfy { dependency in
      guard dependency.isInjected || dependency.requirement.asksSomething else { return true }
      return dependency.node.outcome?.isSuccess == true
    }
  }
}

extension StormNode: CustomStringConvertible {
  var description: String {
    let record = record.withLock { $0 }
    let moments = record.moments.map { "\($0.moment)@\($0.time)" }.joined(separator: " ")
    return "node \(id) (\(kind)\(parent.map { ", child of \($0.id)" } ?? "")): \(moments)"
      + (record.outcome.map { ", \($0)" } ?? "")
      + (record.addTime.map { ", added@\($0)" } ?? ", not added")
      + (record.isAccepted.map { $0 ? "" : ", refused" } ?? ", add has not returned")
  }
}

extension DependencyRequirement {
  var asksSomething: Bool { if case .any = self { false } else { true } }

  /// Whether a dependency that ended so lets its dependent run.
  func isMet(by outcome: ProcedureOutcome) -> Bool {
    switch self {
    case .any, .successOrIgnored: true
    case .notCancelled: !outcome.isCancelled
    case .success: outcome.isSuccess
    }
  }
}

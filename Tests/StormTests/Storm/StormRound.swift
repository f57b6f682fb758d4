import Cancellation
import Dispatch
import Foundation
import ProcedurePrimitives
import Procedures
import ProceduresTimeline
import Synchronization

/// One round of the storm: some procedures, and a few threads that add them, look at them, cancel
/// them and let go of them. When the threads are done, the round opens all that is held back, waits
/// for the end, and compares what was seen with what is promised.
///
/// A seed decides what each thread does; how their steps meet is up to the machine.
final class StormRound: Sendable {
  struct Options: Sendable {
    /// Whether something serves the main queue, so that procedures may run there.
    var servesMain = true
    /// How long nothing may happen before that counts as a hang.
    var patience = Duration.seconds(1_200)
  }

  let seed: UInt64
  let options: Options
  let domain = ExclusionDomain(name: "storm")
  let aliveCount = Atomic<Int>(0)
  let nodes = Locked<[StormNode]>([])
  let queues = Locked<[StormQueue]>([])
  let sources = Locked<[CancellationTokenSource]>([])
  /// Those that somebody has to end.
  let open = Locked<[StormProcedure]>([])
  /// Set when anything can be cancelled, by the search for cycles.
  let mayCancelAnything = Flag()
  let timeline = Locked<ProcedureTimeline?>(nil)
  /// Where some observers are called.
  let eventQueue = DispatchQueue(label: "storm.events")

  private let clock = Atomic<Int>(0)
  private let objections = Locked<[String]>([])
  /// What is still to come: each procedure that is or will be added, and what runs aside.
  private let unfinished = DispatchGroup()

  init(seed: UInt64, options: Options) {
    self.seed = seed
    self.options = options
  }

  func tick() -> Int { clock.add(1, ordering: .acquiringAndReleasing).newValue }

  func object(_ objection: String) { objections.withLock { $0.append(objection) } }

  // MARK: What goes on

  /// Runs `body` on another thread; the round waits for it.
  func aside(after delay: DispatchTimeInterval? = nil, _ body: @escaping @Sendable () -> Void) {
    unfinished.enter()
    let work: @Sendable () -> Void = {
      body()
      self.unfinished.leave()
    }
    if let delay {
      DispatchQueue.global().asyncAfter(deadline: .now() + delay, execute: work)
    } else {
      DispatchQueue.global().async(execute: work)
    }
  }

  /// Calls `body`; the round waits for it, whatever thread it is.
  func during(_ body: () -> Void) {
    unfinished.enter()
    body()
    unfinished.leave()
  }

  /// Waits in a task; the round waits for it.
  func asideInTask(_ body: @escaping @Sendable () async -> Void) {
    unfinished.enter()
    Task {
      await body()
      unfinished.leave()
    }
  }

  /// Blocks a thread of its own.
  func asideOnThread(_ body: @escaping @Sendable () -> Void) {
    unfinished.enter()
    Thread.detachNewThread {
      body()
      self.unfinished.leave()
    }
  }

  func makeNode(_ kind: StormNode.Kind, parent: StormNode?) -> StormNode {
    unfinished.enter()
    return nodes.withLock { nodes in
      let node = StormNode(nodes.count, kind, in: self, parent: parent)
      nodes.append(node)
      return node
    }
  }

  /// It was made, and is released without being added, or published.
  func forget(_ node: StormNode) {
    node.isNeverAdded = true
    unfinished.leave()
  }

  // MARK: What the observers tell

  /// It has started, in its turn.
  func begin(_ node: StormNode) {
    for exclusion in node.exclusions where !exclusion.begin() {
      object("L1: \(node) has begun beside another one of \(exclusion)")
    }
    if node.isTop, let queue = node.queue {
      if !queue.mayRun.isSet { object("Q3: \(node) has begun in a suspended queue") }
      if let objection = queue.running.begin(isBarrier: node.isBarrier) {
        object("\(node) \(objection)")
      }
    }
    guard let parent = node.parent else { return }
    if parent.mayBegin?.isSet == false { object("G9: \(node) has begun in a suspended group") }
    if parent.record.withLock({ $0.time(of: .willExecute) }) == nil {
      object("G1: \(node) has begun before its group")
    }
    if let objection = parent.limit?.begin(isBarrier: false) { object("\(node) \(objection)") }
  }

  /// It is about to finish.
  func end(_ node: StormNode) {
    guard node.hasBegun else { return }
    if node.isTop { node.queue?.running.end(isBarrier: node.isBarrier) }
    node.parent?.limit?.end(isBarrier: false)
  }

  /// An attempt of one that rests is about to finish.
  func leave(_ node: StormNode) {
    end(node)
    for exclusion in node.exclusions { exclusion.end() }
  }

  /// Others may enter its categories when this has returned.
  func letGo(_ node: StormNode) {
    guard node.hasBegun, !node.rests else { return }
    for exclusion in node.exclusions { exclusion.end() }
  }

  func noteEnd(of node: StormNode) {
    if node.record.withLock({ exchange(&$0.isDelivered, with: true) }) {
      object("F3: \(node) has finished twice")
    } else {
      unfinished.leave()
    }
  }

  // MARK: The round

  /// - Returns: what was not as promised.
  func run() -> [String] {
    var dice = Dice(seed: seed)
    makeQueues(&dice)
    let hands = (0..<1 + dice.roll(4)).map { _ in dice.split() }
    let count = 2 + dice.roll(12)
    for dice in hands {
      asideOnThread { [self] in
        var dice = dice
        for _ in 0..<count { step(&dice) }
        handCount.add(1, ordering: .acquiringAndReleasing)
      }
    }
    let isOver = finish(hands: hands.count)
    let threads = handCount.load(ordering: .acquiring)
    guard isOver else {
      return objections.withLock { $0 } + ["hangs, \(threads) of \(hands.count) threads are done:"]
        + pending()
    }
    check()
    // The watch of waits, timers and workers that are on their way out.
    letGoOfAll()
    if !holds({ aliveCount.load(ordering: .acquiring) == 0 }) {
      object("F4: \(aliveCount.load(ordering: .acquiring)) objects are left")
    }
    return objections.withLock { $0 }
  }

  private let handCount = Atomic<Int>(0)

  /// Waits for the end; when the threads are done, ends what nobody else ends.
  private func finish(hands: Int) -> Bool {
    let deadline = ContinuousClock.now + options.patience
    while unfinished.wait(timeout: .now() + .milliseconds(1)) == .timedOut {
      guard ContinuousClock.now < deadline else { return false }
      guard handCount.load(ordering: .acquiring) == hands else { continue }
      for queue in queues.withLock({ $0 }) { queue.resume() }
      for node in nodes.withLock({ $0 }) {
        guard let mayBegin = node.mayBegin else { continue }
        mayBegin.set()
        (node.procedure as? GroupProcedure)?.isSuspended = false
      }
      for procedure in open.withLock({ exchange(&$0, with: []) }) { procedure.endAtLast() }
    }
    return holds { queues.withLock { $0 }.allSatisfy { $0.queue?.count ?? 0 == 0 } }
  }

  /// Asks until it holds, for as long as only a hang takes.
  func holds(_ condition: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + options.patience
    while !condition() {
      guard ContinuousClock.now < deadline else { return false }
      Thread.sleep(forTimeInterval: 0.000_2)
    }
    return true
  }

  private func letGoOfAll() {
    for node in nodes.withLock({ exchange(&$0, with: []) }) { node.slot.withLock { $0 = nil } }
    queues.withLock { $0 = [] }
    sources.withLock { $0 = [] }
    open.withLock { $0 = [] }
    timeline.withLock { $0 = nil }
  }

  private func pending() -> [String] {
    nodes.withLock { $0 }.filter { $0.outcome == nil && !$0.isNeverAdded }.map { node in
      "\(node); \(node.record.withLock { $0.procedure }.map { "\($0)" } ?? "gone")"
    } + queues.withLock { $0 }.compactMap { $0.queue.map { "\($0.snapshot())" } }
  }
}

extension StormNode {
  var hasBegun: Bool { record.withLock { $0.time(of: .willExecute) } != nil }
}

import Cancellation
import Dispatch
import Foundation
import ProcedurePrimitives
import Procedures
import ProceduresFoundation
import ProceduresTimeline

/// What there is in a round.
extension StormRound {
  func makeQueues(_ dice: inout Dice) {
    if dice.oneIn(4) { timeline.withLock { $0 = ProcedureTimeline(capacity: 64) } }
    let timeline = timeline.withLock { $0 }
    for _ in 0...dice.roll(3) {
      let limit = [1, 2, 3, 8, Int.max][dice.roll(5)]
      let queue: ProcedureQueue
      var isFixed = false
      switch dice.roll(6) {
      case 0:
        let threads = 1 + dice.roll(3)
        queue = ProcedureQueue(threads: threads)
        add(queue, limit: threads, isFixed: true, &dice)
        continue
      case 1:
        queue = ProcedureQueue(underlyingQueue: DispatchQueue(label: "storm.serial"))
        isFixed = dice.oneIn(2)
      case 2:
        queue = ProcedureQueue(
          maxConcurrentProcedureCount: limit,
          underlyingQueue: DispatchQueue(label: "storm.concurrent", attributes: .concurrent))
        add(queue, limit: limit, isFixed: false, &dice)
        continue
      default:
        queue = ProcedureQueue(maxConcurrentProcedureCount: limit)
        timeline?.record(queue)
        add(queue, limit: limit, isFixed: false, &dice)
        continue
      }
      add(queue, limit: .max, isFixed: isFixed, &dice)
    }
  }

  private func add(
    _ queue: ProcedureQueue, limit: Int, isFixed: Bool, _ dice: inout Dice
  ) {
    queue.diagnosticsHandler = { _ in }
    if dice.oneIn(4) { queue.isSuspended = true }
    let queue = StormQueue(queue, limit: limit, isFixed: isFixed)
    queues.withLock { $0.append(queue) }
  }

  /// Makes a procedure, with all that belongs to it. The caller publishes it.
  func make(
    parent: StormNode?, queue: StormQueue?, depth: Int, _ dice: inout Dice
  ) -> (StormNode, Procedure) {
    let node: StormNode
    let procedure: Procedure
    switch dice.roll(10) {
    case 0...1 where depth < 2:
      node = makeNode(.group, parent: parent)
      node.queue = queue
      exclude(node, &dice)
      procedure = makeGroup(node, queue: queue, depth: depth, &dice)
    case 2...3:
      node = makeNode(.readyMade, parent: parent)
      node.queue = queue
      exclude(node, &dice)
      procedure = makeReadyMade(node, Tracer(self), &dice)
    default:
      node = makeNode(.traced, parent: parent)
      node.queue = queue
      exclude(node, &dice)
      let fates = StormProcedure.Fate.allCases
      let fate = dice.oneIn(2) ? .atOnce : fates[dice.roll(fates.count)]
      procedure = StormProcedure(node, fate)
    }
    equip(node, procedure, Tracer(self), &dice)
    return (node, procedure)
  }

  private func makeReadyMade(
    _ node: StormNode, _ tracer: Tracer, _ dice: inout Dice
  ) -> Procedure {
    switch dice.roll(8) {
    case 0: return DelayProcedure(by: .microseconds(dice.roll(1_000)))
    case 1:
      return AsyncProcedure { [tracer] in
        await Task.yield()
        withExtendedLifetime(tracer) {}
      }
    case 2:
      return AsyncProcedure(.callback) { [tracer] finish in
        DispatchQueue.global().async {
          withExtendedLifetime(tracer) {}
          finish()
        }
      }
    case 3:
      let attempts = Flag()
      node.rests = dice.oneIn(2)
      let wait = node.rests ? Duration.microseconds(dice.roll(300)) : .zero
      let retry = RetryProcedure(max: 3, wait: .constant(wait)) { [tracer] in
        BlockProcedure {
          withExtendedLifetime(tracer) {}
          if node.rests { node.round.begin(node) }
          defer { if node.rests { node.round.leave(node) } }
          if !attempts.exchange(true) { throw StormError(id: 0) }
        }
      }
      retry.keepsSlotWhileWaiting = !node.rests
      return retry
    case 4:
      return OperationProcedure(BlockOperation { [tracer] in withExtendedLifetime(tracer) {} })
    case 5:
      return IgnoreErrorsProcedure(
        BlockProcedure { [tracer] in
          withExtendedLifetime(tracer) {}
          throw StormError(id: 0)
        })
    case 6:
      return ResultProcedure { [tracer] in
        withExtendedLifetime(tracer) {}
        return 1
      }
    default: return BlockProcedure { [tracer] in withExtendedLifetime(tracer) {} }
    }
  }

  private func makeGroup(
    _ node: StormNode, queue: StormQueue?, depth: Int, _ dice: inout Dice
  ) -> Procedure {
    var siblings: [StormNode] = []
    var children: [Procedure] = []
    node.failsOthers = dice.oneIn(4)
    if dice.oneIn(4) { node.mayBegin = Flag() }
    let limit = dice.oneIn(3) ? 1 + dice.roll(2) : Int.max
    node.limit = HighestLimit(limit)
    // A large one now and then, whose cancel takes its time.
    let count = depth == 0 && dice.oneIn(40) ? 100 + dice.roll(200) : dice.roll(5)
    for _ in 0..<count {
      let (child, procedure) =
        count < 100
        ? make(parent: node, queue: queue, depth: depth + 1, &dice) : makePlain(below: node)
      if count < 100 { order(child, procedure, after: siblings, &dice) }
      child.publish(procedure)
      child.record.withLock { $0.isAccepted = true }
      siblings.append(child)
      children.append(procedure)
      if dice.oneIn(12) {
        // It ends while the others are still to come.
        child.cancel([-7], procedure)
        child.neverExecutes.set()
      }
    }
    let group: GroupProcedure
    if dice.oneIn(2) {
      group = GroupProcedure(children: children)
    } else {
      group = StormGroup(node, children, lateDice: dice.oneIn(2) ? dice.split() : nil)
    }
    if node.mayBegin != nil { group.isSuspended = true }
    if limit < .max { group.maxConcurrentChildCount = limit }
    if node.failsOthers { group.failurePolicy = .cancelRemaining }
    if dice.oneIn(3) { group.keepsFinishedChildren = false }
    return group
  }

  /// Categories are in an order, and what is inside of a group that holds one asks for the same or
  /// a later one: otherwise two groups could wait for each other for ever.
  private func exclude(_ node: StormNode, _ dice: inout Dice) {
    guard dice.oneIn(4) else { return }
    var ancestors: [StormNode] = []
    var next = node.parent
    while let ancestor = next {
      ancestors.append(ancestor)
      next = ancestor.parent
    }
    func exclusion(_ name: StormExclusion.Name, _ domain: UInt64) -> StormExclusion {
      let holder = ancestors.first { ancestor in
        ancestor.exclusions.contains { $0.name == name && $0.domain == domain }
      }
      return StormExclusion(name: name, domain: domain, holder: holder.map { Int($0.id) })
    }
    if node.kind != .group, node.parent == nil, dice.oneIn(3) {
      node.exclusions = [exclusion(.pair, seed + 1)]
      return
    }
    let all: [(StormExclusion.Name, UInt64)] = [
      (.red, 0), (.green, 0), (.red, seed + 1), (.green, seed + 1),
    ]
    let highest =
      ancestors.flatMap(\.exclusions).compactMap { exclusion in
        all.firstIndex { $0 == (exclusion.name, exclusion.domain) }
      }.max() ?? 0
    let first = highest + dice.roll(all.count - highest)
    node.exclusions = [exclusion(all[first].0, all[first].1)]
    if dice.oneIn(4), first + 1 < all.count {
      node.exclusions.append(exclusion(all[first + 1].0, all[first + 1].1))
    }
  }

  private enum Red {}
  private enum Green {}

  private func equip(
    _ node: StormNode, _ procedure: Procedure, _ tracer: Tracer, _ dice: inout Dice
  ) {
    let holdsEvents = dice.oneIn(10)
    procedure.add(
      observer: StormObserver(
        node: node, cancelsInWillExecute: dice.oneIn(30), holdsEvents: holdsEvents))
    for exclusion in node.exclusions {
      let domain = exclusion.domain == 0 ? ExclusionDomain.process : domain
      switch exclusion.name {
      case .red: procedure.add(condition: MutuallyExclusive<Red>(in: domain))
      case .green: procedure.add(condition: MutuallyExclusive<Green>(in: domain))
      case .pair:
        procedure.add(condition: AtMost(2, of: ExclusionCategory(named: "pair", in: domain)))
      }
    }
    if node.id % 12 == 5 {
      let rate = ExclusionCategory(named: "rate", in: domain)
      procedure.add(condition: RateLimit(2, per: .microseconds(200), of: rate))
    }
    if dice.oneIn(6) { addCondition(node, procedure, &dice) }
    if dice.oneIn(8) {
      procedure.addWillExecuteBlockObserver(synchronizedWith: eventQueue) { [tracer] in
        withExtendedLifetime(tracer) { node.visit() }
      }
      procedure.addDidFinishBlockObserver(synchronizedWith: eventQueue) { _, _ in node.visit() }
    }
    if dice.oneIn(150) {
      procedure.add(
        observer: BlockObserver(
          synchronizedWith: eventQueue, didAttach: { _ in Thread.sleep(forTimeInterval: 0.012) }))
    }
    if options.servesMain, dice.oneIn(12) {
      procedure.addDidFinishBlockObserver { @MainActor [tracer] in
        withExtendedLifetime(tracer) { node.visit() }
      }
    }
    if options.servesMain, dice.oneIn(40) {
      // Slow, and so is what waits behind it for the main actor: busy is not stuck.
      let isSlow = dice.oneIn(4)
      procedure.addDidCancelBlockObserver { @MainActor [tracer] in
        withExtendedLifetime(tracer) { node.visit() }
        if isSlow { Thread.sleep(forTimeInterval: 0.012) }
      }
    }
    if dice.oneIn(16) {
      node.mayBeCancelled.set()
      procedure.timeout(after: .microseconds(dice.roll(2_000)))
    }
    if dice.oneIn(8) { follow(node, procedure, &dice) }
    if dice.oneIn(4) {
      let priorities = ProcedurePriority.allCases
      procedure.priority = priorities[dice.roll(priorities.count)]
    }
    if dice.oneIn(12) { procedure.qualityOfService = .utility }
    procedure.add(observer: StormLastObserver(node: node))
  }

  private func addCondition(_ node: StormNode, _ procedure: Procedure, _ dice: inout Dice) {
    let isSatisfied = !dice.oneIn(4)
    let kind = dice.roll(5)
    if !isSatisfied || kind == 4 { node.mayBeCancelled.set() }
    switch kind {
    case 0: procedure.add(condition: BlockCondition { isSatisfied })
    case 1:
      procedure.add(
        condition: AsyncCondition {
          await Task.yield()
          return isSatisfied
        })
    case 2:
      procedure.add(
        condition: AnswerCondition { _, answer in
          DispatchQueue.global().async {
            answer(isSatisfied ? .satisfied : .failed(StormError(id: node.id)))
            answer(.satisfied)
          }
        })
    case 3:
      procedure.add(
        condition: BlockCondition {
          if !isSatisfied { throw StormError(id: node.id) }
          return true
        })
    default: procedure.add(condition: NoFailedDependencies())
    }
    if !isSatisfied, kind != 4 { node.neverExecutes.set() }
  }

  /// Some token cancels it.
  private func follow(_ node: StormNode, _ procedure: Procedure, _ dice: inout Dice) {
    node.mayBeCancelled.set()
    let source: CancellationTokenSource
    if let known = sources.withLock({ dice.pick($0) }), dice.oneIn(2) {
      source =
        dice.oneIn(3) ? CancellationTokenSource(linkedTo: known.token) : known
    } else {
      source = CancellationTokenSource()
      if dice.oneIn(3) { source.cancel(after: .microseconds(dice.roll(2_000))) }
    }
    sources.withLock { $0.append(source) }
    if source.isCancelled { node.neverExecutes.set() }
    procedure.cancel(when: source.token)
  }

  /// Has it wait for some of those that were made before.
  func order(
    _ node: StormNode, _ procedure: Procedure, after earlier: [StormNode], _ dice: inout Dice
  ) {
    guard dice.oneIn(2) else { return }
    for _ in 0...dice.roll(2) {
      guard let other = dice.pick(Array(earlier.suffix(6))), let source = other.procedure,
        !node.dependencies.contains(where: { $0.node === other })
      else { continue }
      let mayBeGone = Flag()
      let requirement = [DependencyRequirement.any, .any, .notCancelled, .success][dice.roll(4)]
      var isInjected = false
      if let target = procedure as? StormProcedure, let source = source as? StormProcedure,
        dice.oneIn(3), !node.dependencies.contains(where: \.isInjected)
      {
        isInjected = true
        target.injectResult(from: source)
      } else if case .any = requirement {
        procedure.add(dependency: source)
      } else {
        procedure.add(dependency: source, requiring: requirement)
      }
      node.dependencies.append(
        StormNode.Dependency(
          node: other, requirement: isInjected ? .success : requirement, isInjected: isInjected,
          mayBeGone: mayBeGone))
      if dice.oneIn(8) {
        // A follower of its token, as well.
        node.mayBeCancelled.set()
        procedure.cancel(when: source.cancellationToken)
      }
    }
  }

  private func makePlain(below parent: StormNode) -> (StormNode, Procedure) {
    let node = makeNode(.traced, parent: parent)
    node.queue = parent.queue
    let procedure = StormProcedure(node, .atOnce)
    procedure.add(
      observer: StormObserver(node: node, cancelsInWillExecute: false, holdsEvents: false))
    procedure.add(observer: StormLastObserver(node: node))
    return (node, procedure)
  }

  /// Adds a child to a group that executes, or has finished.
  func addLate(to group: GroupProcedure, of node: StormNode, _ dice: inout Dice) {
    let (child, procedure) = make(parent: node, queue: node.queue, depth: 2, &dice)
    child.publish(procedure)
    child.noteAdd()
    let wasCancelled = group.isCancelled
    if wasCancelled { child.neverExecutes.set() }
    let isAccepted = group.add(child: procedure)
    if wasCancelled, isAccepted, !procedure.isCancelled {
      object("G5: \(child) was added to a group that reads cancelled, and reads uncancelled")
    }
    if !isAccepted {
      child.mayBeCancelled.set()
      child.neverExecutes.set()
    }
    child.record.withLock { $0.isAccepted = isAccepted }
  }
}

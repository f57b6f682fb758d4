import Cancellation
import Dispatch
import Foundation
import ProcedurePrimitives
import Procedures
import ProceduresTimeline

/// What the threads of a round do.
extension StormRound {
  func step(_ dice: inout Dice) {
    switch dice.roll(20) {
    case 0: addMany(&dice)
    case 1...10: addSome(&dice)
    default: disturb(&dice)
    }
  }

  // MARK: Adding

  private func addSome(_ dice: inout Dice) {
    let usesMain = options.servesMain && dice.oneIn(16)
    var queue = usesMain ? nil : queues.withLock({ dice.pick($0) })
    let target = queue?.queue
    if target == nil { queue = nil }
    var batch: [(StormNode, Procedure)] = []
    for _ in 0..<(dice.oneIn(4) ? 1 + dice.roll(6) : 1) {
      let earlier = nodes.withLock { $0 }.filter(\.isTop)
      let (node, procedure) = make(parent: nil, queue: queue, depth: 0, &dice)
      order(node, procedure, after: earlier, &dice)
      if node.kind != .group, dice.oneIn(20) {
        forget(node)
        continue
      }
      node.publish(procedure)
      batch.append((node, procedure))
    }
    if dice.oneIn(10), let (node, procedure) = batch.first {
      node.cancel([-3], procedure)
      node.neverExecutes.set()
    }
    guard !usesMain else { return add(batch, to: .main) }
    // A new one is gone when this returns, and runs them all the same.
    guard let target else {
      let queue = ProcedureQueue()
      queue.diagnosticsHandler = { _ in }
      return add(batch, to: queue)
    }
    if batch.count == 1, dice.oneIn(16), let (node, procedure) = batch.first {
      // What was added before it may depend on what is added after it.
      mayCancelAnything.set()
      node.isBarrier = true
      node.noteAdd()
      note(target.add(barrier: procedure), of: node)
    } else {
      add(batch, to: target)
    }
  }

  /// Many small ones, from several threads, as fast as it goes, while another one looks at the
  /// queue: each may be the first that a worker has not seen.
  private func addMany(_ dice: inout Dice) {
    guard let queue = queues.withLock({ dice.pick($0) }), let target = queue.queue else { return }
    // In a suspended one all that have arrived are received by those who look.
    if dice.oneIn(2) { queue.slot.withLock { $0?.isSuspended = true } }
    let adders = 2 + dice.roll(6)
    let missing = Counting(adders)
    for _ in 0..<2 {
      asideOnThread { while missing.isLeft { _ = target.count } }
    }
    for _ in 0..<adders {
      let batch = (0..<8).map { _ in makePlain(on: queue) }
      asideOnThread { [self] in
        for (node, procedure) in batch {
          node.noteAdd()
          note(target.add(procedure), of: node)
        }
        missing.subtract()
      }
    }
  }

  private func makePlain(on queue: StormQueue) -> (StormNode, Procedure) {
    let node = makeNode(.traced, parent: nil)
    node.queue = queue
    let procedure = StormProcedure(node, .atOnce)
    procedure.add(
      observer: StormObserver(node: node, cancelsInWillExecute: false, holdsEvents: false))
    procedure.add(observer: StormLastObserver(node: node))
    node.publish(procedure)
    return (node, procedure)
  }

  private func add(_ batch: [(StormNode, Procedure)], to queue: ProcedureQueue) {
    if batch.count > 2 {
      for (node, _) in batch { node.noteAdd() }
      queue.add(batch.map(\.1))
      // Which of them a closed queue has refused is not known: such a queue may cancel.
      for (node, _) in batch { node.record.withLock { $0.isAccepted = true } }
      return
    }
    for (node, procedure) in batch {
      node.noteAdd()
      note(queue.add(procedure), of: node)
    }
  }

  private func note(_ isAccepted: Bool, of node: StormNode) {
    node.record.withLock { $0.isAccepted = isAccepted }
    if !isAccepted { node.neverExecutes.set() }
  }

  // MARK: Disturbing

  private func disturb(_ dice: inout Dice) {
    switch dice.roll(10) {
    case 0...3: disturbQueue(&dice)
    case 4: disturbTokens(&dice)
    default:
      if let node = nodes.withLock({ dice.pick($0) }) { disturb(node, &dice) }
    }
  }

  private func disturbQueue(_ dice: inout Dice) {
    guard let queue = queues.withLock({ dice.pick($0) }) else { return }
    switch dice.roll(24) {
    case 0...5: _ = queue.queue?.count
    case 6...7: _ = queue.queue?.procedures
    case 8...9: _ = queue.queue?.snapshot().description
    case 10...11: _ = timeline.withLock { $0 }?.snapshot().summary
    case 12...14: queue.resume()
    case 15...16: queue.slot.withLock { $0?.isSuspended = true }
    case 17...19:
      if queue.isFixed { break }
      let limit = 1 + dice.roll(4)
      queue.running.allow(limit)
      queue.queue?.maxConcurrentProcedureCount = limit
    case 20:
      queue.mayCancel.set()
      queue.queue?.cancelAll(withErrors: dice.oneIn(2) ? [StormError(id: -4)] : [])
    case 21:
      // It would resume itself when it goes; but a thread that waits for it may have it for longer.
      queue.resume()
      queue.slot.withLock { slot in
        slot?.isSuspended = false
        slot = nil
      }
    case 22 where dice.oneIn(3):
      queue.mayCancel.set()
      queue.queue?.close()
    default:
      guard let target = queue.queue else { break }
      asideInTask { await target.waitUntilAllFinished() }
    }
  }

  private func disturbTokens(_ dice: inout Dice) {
    guard let source = sources.withLock({ dice.pick($0) }) else { return }
    switch dice.roll(4) {
    case 0: source.cancel(.failure(StormError(id: -5)))
    case 1: source.cancel(after: .microseconds(dice.roll(1_000)))
    case 2: count(source.token, unregisters: dice.oneIn(2))
    default: sources.withLock { $0.removeAll { $0 === source } }
    }
  }

  /// K3, K5: its handler runs once, or `unregister` says that it does not.
  private func count(_ token: CancellationToken, unregisters: Bool) {
    let hasRun = Flag()
    let tracer = Tracer(self)
    let registration = token.onCancel { [self] in
      withExtendedLifetime(tracer) {
        if !token.isCancelled { object("K2: a handler runs, and its token reads uncancelled") }
        if hasRun.exchange(true) { object("K3: a handler runs twice") }
      }
    }
    guard unregisters, registration.remove() else { return }
    if hasRun.exchange(true) { object("K5: remove() has returned true, and the handler ran") }
  }

  private func disturb(_ node: StormNode, _ dice: inout Dice) {
    guard let procedure = node.procedure else { return }
    let action = dice.roll(24)
    switch action {
    case 0...2: node.cancel([], procedure)
    case 3: node.cancel([-1, -2], procedure)
    case 4: (procedure as? StormProcedure)?.end()
    case 5: (procedure as? StormProcedure)?.end([-6])
    case 6...8:
      // A group that somebody has to resume remains.
      if node.mayBegin == nil { node.slot.withLock { $0 = nil } }
    case 9: count(procedure.cancellationToken, unregisters: dice.oneIn(2))
    case 10:
      let token = procedure.cancellationToken
      // That of one that has finished uncancelled says nothing.
      if token == .never { break }
      node.record.withLock { $0.token = token }
    case 11: procedure.addDidFinishBlockObserver { _, _ in node.visit() }
    case 12:
      let tracer = Tracer(self)
      let registration = procedure.addDidCancelBlockObserver { _, _ in
        withExtendedLifetime(tracer) { node.visit() }
      }
      if dice.oneIn(2) { registration.remove() }
    case 13...14:
      asideInTask { [self] in
        await procedure.waitUntilFinished()
        if node.outcome == nil { object("X2: \(node): a wait returns before its observers") }
      }
    case 15 where dice.oneIn(4):
      asideOnThread { [self] in
        procedure.blockUntilFinished()
        if node.outcome == nil { object("X2: \(node): a wait returns before its observers") }
      }
    case 16:
      let priorities = ProcedurePriority.allCases
      procedure.priority = priorities[dice.roll(priorities.count)]
    case 18: procedure.qualityOfService = dice.oneIn(2) ? .utility : .unspecified
    case 19:
      node.mayBeCancelled.set()
      procedure.timeout(after: .microseconds(dice.roll(2_000)))
    case 17:
      guard let dependency = dice.pick(node.dependencies), !dependency.isInjected else { break }
      dependency.mayBeGone.set()
      if let other = dependency.node.procedure { procedure.remove(dependency: other) }
    default:
      if let group = procedure as? GroupProcedure { disturb(group, of: node, &dice) }
    }
  }

  private func disturb(_ group: GroupProcedure, of node: StormNode, _ dice: inout Dice) {
    // Ready-made ones have children of their own.
    guard node.kind == .group else { return }
    switch dice.roll(6) {
    case 0: _ = group.children
    case 1:
      guard let mayBegin = node.mayBegin else { break }
      mayBegin.set()
      group.isSuspended.toggle()
    case 2:
      let limit = 1 + dice.roll(3)
      node.limit?.allow(limit)
      group.maxConcurrentChildCount = limit
    default: addLate(to: group, of: node, &dice)
    }
  }
}

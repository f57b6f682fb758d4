import Cancellation
import Dispatch
import Foundation
import ProcedurePrimitives
import Procedures

/// A procedure that notes all that happens to it, and ends in one of many ways.
final class StormProcedure: Procedure, InputProcedure, OutputProcedure, @unchecked Sendable {
  typealias Input = Int
  typealias Output = Int

  enum Fate: Int, CaseIterable, Sendable {
    case atOnce, fails, elsewhere, elsewhereFails, byTwo, atTheEnd, whenCancelled, cancelsItself
    case after, blocks
  }

  let node: StormNode
  private let fate: Fate
  private let tracer: Tracer

  init(_ node: StormNode, _ fate: Fate) {
    self.node = node
    self.fate = fate
    tracer = Tracer(node.round)
    super.init()
    name = "\(fate) \(node.id)"
  }

  /// What it gives to those that it is injected into.
  static func output(of id: Int) -> Int { id * 1_000 + 7 }

  /// Ends it, from any thread, any number of times.
  func end(_ errors: [Int] = []) {
    node.round.during {
      let isFirst =
        errors.isEmpty
        ? finish(withResult: .success(Self.output(of: node.id)))
        : finish(withErrors: errors.map(StormError.init))
      if isFirst { node.record.withLock { $0.finishErrors.append(errors) } }
    }
  }

  override func execute() {
    node.turn(.execute) {
      if let source = node.dependencies.last(where: \.isInjected)?.node,
        input != Self.output(of: source.id)
      {
        node.round.object("R1: \(node): its input is \(String(describing: input))")
      }
      act()
    }
  }

  private func act() {
    let round = node.round
    switch fate {
    case .atOnce: end()
    case .fails: end([node.id])
    case .elsewhere: round.aside { self.end() }
    case .elsewhereFails: round.aside { self.end([self.node.id]) }
    case .byTwo:
      for error in 1...2 { round.aside { self.end([-error]) } }
    case .atTheEnd:
      round.open.withLock { $0.append(self) }
    case .whenCancelled:
      cancellationToken.onCancel { [weak self] in self?.end() }
      round.open.withLock { $0.append(self) }
    case .cancelsItself:
      node.cancel([node.id], self)
      end()
    case .after:
      round.aside(after: .microseconds(node.id % 7 * 100)) { self.end() }
    case .blocks:
      Thread.sleep(forTimeInterval: 0.000_3)
      end()
    }
  }

  /// At the end of the round: what nobody has ended until then.
  func endAtLast() {
    if fate == .whenCancelled { node.cancel([], self) } else { end() }
  }

  override func procedureDidCancel(withErrors errors: [any Error]) {
    node.turn(.procedureDidCancel)
  }
  override func procedureWillFinish(withErrors errors: [any Error]) {
    node.turn(.procedureWillFinish)
  }
  override func procedureDidFinish(withErrors errors: [any Error]) {
    node.turn(.procedureDidFinish)
  }
}

/// The same of a group. Half of them are plain ones, of which the framework runs `execute()`
/// another way.
final class StormGroup: GroupProcedure, @unchecked Sendable {
  let node: StormNode
  private let tracer: Tracer
  /// Of the child that it adds to itself when it executes.
  private let lateDice: Dice?

  init(_ node: StormNode, _ children: [Procedure], lateDice: Dice?) {
    self.node = node
    self.lateDice = lateDice
    tracer = Tracer(node.round)
    super.init(children: children)
  }

  override func execute() {
    node.turn(.execute) {
      if var dice = lateDice { node.round.addLate(to: self, of: node, &dice) }
    }
    super.execute()
  }

  override func child(
    _ child: Procedure, willFinishWithErrors errors: [any Error]
  ) -> [any Error] {
    node.visit()
    // Longer than the search for cycles waits before it looks: busy is not stuck.
    if node.id % 48 == 7 { Thread.sleep(forTimeInterval: 0.012) }
    return errors
  }

  override func procedureDidCancel(withErrors errors: [any Error]) {
    node.turn(.procedureDidCancel)
  }
  override func procedureWillFinish(withErrors errors: [any Error]) {
    node.turn(.procedureWillFinish)
  }
  override func procedureDidFinish(withErrors errors: [any Error]) {
    node.turn(.procedureDidFinish)
  }
}

/// The first observer of each procedure.
struct StormObserver: ProcedureObserver {
  let node: StormNode
  private let tracer: Tracer
  /// A cancel here keeps it from executing.
  private let cancelsInWillExecute: Bool
  private let holdsEvents: Bool

  init(node: StormNode, cancelsInWillExecute: Bool, holdsEvents: Bool) {
    self.node = node
    tracer = Tracer(node.round)
    self.cancelsInWillExecute = cancelsInWillExecute
    self.holdsEvents = holdsEvents
  }

  func didAttach(to procedure: Procedure) { node.turn(.didAttach) }

  func will(execute procedure: Procedure, pendingExecute: PendingEvent) {
    node.turn(.willExecute) {
      if !node.rests { node.round.begin(node) }
      if cancelsInWillExecute {
        node.cancel([node.id], procedure)
        if procedure.isCancelled { node.neverExecutes.set() }
      }
    }
    if holdsEvents { node.round.aside(after: .microseconds(200)) { pendingExecute.release() } }
  }

  func did(execute procedure: Procedure) { node.turn(.didExecute) }

  func did(cancel procedure: Procedure, withErrors errors: [any Error]) {
    node.turn(.didCancel)
  }

  func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent
  ) {
    node.turn(.willFinish) {
      if !node.rests { node.round.end(node) }
    }
    if holdsEvents { node.round.aside(after: .microseconds(200)) { pendingFinish.release() } }
  }

  func did(finish procedure: Procedure, withErrors errors: [any Error]) {
    node.turn(.didFinish) {
      if !procedure.isFinished { node.round.object("X1: \(node): didFinish, and it has not") }
    }
  }
}

/// The last observer of each procedure: when it returns, the model takes it for finished.
struct StormLastObserver: ProcedureObserver {
  let node: StormNode

  var events: ProcedureEvents { .didFinish }

  func did(finish procedure: Procedure, withErrors errors: [any Error]) {
    node.turn(.end) {
      let outcome = procedure.outcome
      node.record.withLock { $0.outcome = outcome }
      node.round.letGo(node)
    }
    node.round.noteEnd(of: node)
  }
}

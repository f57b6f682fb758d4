import Foundation
import ProcedurePrimitives
import ProcedureTestSupport
import ProceduresFoundation

/// Operations and procedures that depend on each other at random, on queues of both kinds.
///
/// The model is small: each node runs at most once, a node that runs does so after all that it
/// depends on have finished, all finish, one that was cancelled before it could run does not, and
/// the two sides of a wrapped node agree on whether it was cancelled, unless that comes at its end.
struct MixedGraph {
  enum Kind: CaseIterable {
    case procedure, operation, wrappedOperation, wrappedProcedure
  }

  /// What a node is made of, and what the model must know about it.
  final class Node: @unchecked Sendable {
    let index: Int
    let kind: Kind
    let isAsynchronous: Bool
    let isInGroup: Bool
    /// Set while the graph is put together, by one thread.
    var dependencies: [Node] = []
    var procedure: Procedure?
    var operation: Operation?
    let finished = Gate()
    let runs = Counter()
    private let violations: Recorder<String>
    /// Whether it was cancelled when nothing could have run yet.
    var isCancelledFirst = false
    /// Whether it is cancelled while all are running.
    var isCancelledLate = false

    init(
      _ index: Int, _ kind: Kind, isAsynchronous: Bool, isInGroup: Bool,
      _ violations: Recorder<String>
    ) {
      self.index = index
      self.kind = kind
      self.isAsynchronous = isAsynchronous
      self.isInGroup = isInGroup
      self.violations = violations
    }

    /// Whether what is outermost is an operation.
    var isOperation: Bool { kind == .operation || kind == .wrappedProcedure }

    /// The work: checks what the model says about the moment at which it begins.
    func run() {
      if runs.increment() > 1 { violations.note("\(index) ran twice") }
      if isCancelledFirst { violations.note("\(index) ran though it was cancelled before") }
      for dependency in dependencies where !dependency.hasFinished {
        violations.note("\(index) (\(kind)) ran before \(dependency.index) (\(dependency.kind))")
      }
    }

    var hasFinished: Bool { isOperation ? operation!.isFinished : procedure!.isFinished }

    func cancel() {
      if isOperation { operation?.cancel() } else { procedure?.cancel() }
    }

    func checkTheEnd() {
      if !hasFinished { violations.note("\(index) has not finished") }
      if isCancelledFirst, runs.value > 0 { violations.note("\(index) ran after its cancel") }
      if let procedure, let operation {
        let (inside, outside) =
          isOperation
          ? (procedure.isCancelled, operation.isCancelled)
          : (operation.isCancelled, procedure.isCancelled)
        // The outside may be cancelled when the inside has just finished.
        if inside ? !outside : outside && !isCancelledLate {
          violations.note("\(index) is cancelled on one side only")
        }
        if !procedure.isFinished || !operation.isFinished {
          violations.note("\(index) has finished on one side only")
        }
      }
      let isCancelled = procedure?.isCancelled ?? operation!.isCancelled
      if !isCancelled, runs.value != 1 { violations.note("\(index) ran \(runs.value) times") }
    }
  }

  /// How the dependency of one node on another is said.
  private enum Edge {
    case outside
    /// Of what is wrapped, before it is.
    case inside
    /// Of what is wrapped, afterwards.
    case insideLate
  }

  let nodes: [Node]
  let violations = Recorder<String>()
  let procedureQueue: ProcedureQueue
  let operationQueue = OperationQueue()
  private let group = GroupProcedure()
  private let cancels: [(node: Node, delay: Int)]

  init(seed: UInt64) {
    var generator = SimulationGenerator(seed: seed)
    let violations = violations
    let isLimited = Int.random(in: 0..<3, using: &generator) == 0
    procedureQueue = ProcedureQueue(
      maxConcurrentProcedureCount: isLimited ? Int.random(in: 1...3, using: &generator) : .max)
    // A limit on the other queue has Foundation on Linux forget operations without our doing.
    nodes = (0..<Int.random(in: 3...12, using: &generator)).map { index in
      Node(
        index, Kind.allCases.randomElement(using: &generator)!,
        isAsynchronous: Bool.random(using: &generator),
        isInGroup: Int.random(in: 0..<3, using: &generator) == 0, violations)
    }
    for node in nodes.dropFirst() {
      node.dependencies = nodes[..<node.index].filter { _ in
        Int.random(in: 0..<4, using: &generator) == 0
      }
    }
    for node in nodes { Self.build(node, mayHoldSlots: !isLimited, &generator) }
    var cancels: [(Node, Int)] = []
    for node in nodes {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0:
        node.isCancelledFirst = true
        node.cancel()
      case 1, 2:
        node.isCancelledLate = true
        cancels.append((node, Int.random(in: 0..<200, using: &generator)))
      default: break
      }
    }
    self.cancels = cancels
  }

  private static func build(
    _ node: Node, mayHoldSlots: Bool, _ generator: inout SimulationGenerator
  ) {
    let edges = node.dependencies.map { dependency in
      let choice = Int.random(in: 0..<(mayHoldSlots ? 3 : 2), using: &generator)
      return (dependency, [Edge.outside, .inside, .insideLate][choice])
    }
    switch node.kind {
    case .procedure:
      node.procedure = procedure(of: node)
      for (dependency, _) in edges { add(dependency, to: node.procedure!) }
    case .operation:
      node.operation = operation(of: node)
      for (dependency, _) in edges { add(dependency, to: node.operation!) }
    case .wrappedOperation:
      let inside = operation(of: node)
      for (dependency, edge) in edges where edge == .inside { add(dependency, to: inside) }
      let outside = OperationProcedure(inside)
      for (dependency, edge) in edges where edge == .outside { add(dependency, to: outside) }
      for (dependency, edge) in edges where edge == .insideLate { add(dependency, to: inside) }
      (node.procedure, node.operation) = (outside, inside)
    case .wrappedProcedure:
      let inside = procedure(of: node)
      for (dependency, edge) in edges where edge == .inside { add(dependency, to: inside) }
      let outside = ProcedureOperation(inside)
      for (dependency, edge) in edges where edge == .outside { add(dependency, to: outside) }
      for (dependency, edge) in edges where edge == .insideLate { add(dependency, to: inside) }
      (node.procedure, node.operation) = (inside, outside)
    }
    if node.isOperation {
      node.operation!.completionBlock = { [finished = node.finished] in finished.open() }
    } else {
      node.procedure!.addDidFinishBlockObserver { [finished = node.finished] _, _ in
        finished.open()
      }
    }
  }

  private static func add(_ dependency: Node, to procedure: Procedure) {
    if dependency.isOperation {
      procedure.add(dependency: dependency.operation!)
    } else {
      procedure.add(dependency: dependency.procedure!)
    }
  }

  private static func add(_ dependency: Node, to operation: Operation) {
    if dependency.isOperation {
      operation.addDependency(dependency.operation!)
    } else {
      operation.addDependency(dependency.procedure!)
    }
  }

  private static func procedure(of node: Node) -> Procedure {
    if node.isAsynchronous {
      AsyncProcedure { [weak node] in
        node?.run()
        await Task.yield()
      }
    } else {
      BlockProcedure { [weak node] in node?.run() }
    }
  }

  private static func operation(of node: Node) -> Operation {
    if node.isAsynchronous {
      DelayedOperation { [weak node] in node?.run() }
    } else {
      BlockOperation { [weak node] in node?.run() }
    }
  }

  /// Adds all, from two threads, while a third cancels, and waits for the end.
  ///
  /// - Returns: how often Foundation's queue had to be reminded of an operation that it had
  ///   forgotten.
  func run() async -> Int {
    let procedures = nodes.filter { !$0.isOperation }
    let operations = nodes.filter(\.isOperation)
    await race(
      {
        for node in procedures {
          if node.isInGroup {
            group.add(child: node.procedure!)
          } else {
            procedureQueue.add(node.procedure!)
          }
        }
        ProcedureQueue().add(group)
      },
      { for node in operations { operationQueue.addOperation(node.operation!) } },
      {
        for (node, delay) in cancels {
          for _ in 0..<delay { _ = node.hasFinished }
          node.cancel()
        }
      })
    let reminders = Counter()
    // An operation that is added while its last dependency finishes may be forgotten by its queue.
    let reminding = Task { [operationQueue] in
      while true {
        try await Task.sleep(for: .seconds(2))
        reminders.increment()
        operationQueue.isSuspended = false
      }
    }
    for node in nodes { await node.finished.wait() }
    _ = await group.waitUntilFinished()
    reminding.cancel()
    for node in nodes { node.checkTheEnd() }
    return reminders.value
  }
}

/// An asynchronous operation that ends on a thread of its own choice.
private final class DelayedOperation: Operation, @unchecked Sendable {
  private let phase = AtomicByte(0)
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { phase.load() == 1 }
  override var isFinished: Bool { phase.load() == 2 }

  override func start() {
    if isCancelled { return end() }
    willChangeValue(forKey: "isExecuting")
    phase.store(1)
    didChangeValue(forKey: "isExecuting")
    body()
    DispatchQueue.global().async { self.end() }
  }

  private func end() {
    willChangeValue(forKey: "isFinished")
    phase.store(2)
    didChangeValue(forKey: "isFinished")
  }
}

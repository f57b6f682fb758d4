internal import Dispatch
internal import Synchronization

extension BareDispatch {
  /// A graph as one writes it by hand: each node counts down what it waits for, and is put on the
  /// global queue by the last of them.
  static func run(_ graph: Graph, _ block: @escaping @Sendable () -> Void) async {
    let group = DispatchGroup()
    let nodes = graph.dependencies.map { Node(waitsFor: $0.count, group) }
    for (node, dependencies) in zip(nodes, graph.dependencies) {
      for dependency in dependencies { nodes[dependency].dependents.append(node) }
    }
    for (node, dependencies) in zip(nodes, graph.dependencies) where dependencies.isEmpty {
      node.start(block)
    }
    await finished(group)
  }

  private final class Node: @unchecked Sendable {
    /// Complete before the first node starts.
    var dependents: [Node] = []
    private let missing: Atomic<Int>
    private let group: DispatchGroup

    init(waitsFor count: Int, _ group: DispatchGroup) {
      missing = Atomic(count)
      self.group = group
      group.enter()
    }

    func start(_ block: @escaping @Sendable () -> Void) {
      DispatchQueue.global().async { [self] in
        block()
        for dependent in dependents
        where dependent.missing.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
          dependent.start(block)
        }
        group.leave()
      }
    }
  }
}

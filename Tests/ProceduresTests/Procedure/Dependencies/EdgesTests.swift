import ProcedureTestSupport
import Testing

@testable import Procedures

/// Where the dependencies and dependents of a procedure are kept, and in what order they come out.
@Suite struct EdgesTests {
  private final class Node: Procedure, @unchecked Sendable {}

  private static let plain: [EdgeRule] = [.requirement(.any), .requirement(.success), .output]

  private func describe(_ rule: EdgeRule?) -> String {
    if case .handOver = rule { "handOver" } else { rule.map { "\($0)" } ?? "none" }
  }

  // MARK: One word

  @Test("a word keeps the other procedure and the rule, and owns a reference until it is taken out")
  func word() {
    for rule in Self.plain {
      weak var released: Node?
      var (first, last) = (PlainEdge(), PlainEdge())
      do {
        let node = Node()
        released = node
        first = PlainEdge(toDependency: node, by: rule) ?? first
        last = PlainEdge(toDependent: node, by: rule) ?? last
      }
      #expect(released != nil && !first.isEmpty && !last.isEmpty)
      #expect(first.dependency?.other === released && first.dependency?.key == nil)
      #expect(describe(first.dependency?.rule) == describe(rule))
      #expect(describe(first.takeDependency()?.rule) == describe(rule))
      #expect(released != nil && first.isEmpty && first.takeDependency() == nil)
      #expect(describe(last.takeDependent()?.rule) == describe(rule))
      #expect(released == nil && last.isEmpty && last.takeDependent() == nil)
    }
  }

  @Test("a hand-over is one object for both ends, and none of them refers to the other afterwards")
  func handOver() {
    weak var source: Node?
    weak var target: Node?
    var (dependency, dependent) = (PlainEdge(), PlainEdge())
    do {
      let nodes = (Node(), Node())
      (source, target) = nodes
      let rule = EdgeRule.handOver(HandOver(from: nodes.0) { _, _ in nil })
      dependency = PlainEdge(toDependency: nodes.0, by: rule) ?? dependency
      dependent = PlainEdge(toDependent: nodes.1, by: rule) ?? dependent
    }
    #expect(dependency.dependency?.other === source && source != nil && target != nil)
    #expect(dependent.takeDependent()?.other != nil && target == nil && source != nil)
    #expect(describe(dependency.takeDependency()?.rule) == "handOver" && source == nil)
  }

  @Test("rules that are rare do not fit into a word")
  func rare() {
    for requirement in [DependencyRequirement.notCancelled, .successOrIgnored] {
      #expect(PlainEdge(toDependency: Node(), by: .requirement(requirement)) == nil)
      #expect(PlainEdge(toDependent: Node(), by: .requirement(requirement)) == nil)
    }
  }

  @Test("it is noted once, by the procedure that it leads to, and by its rule")
  func noted() {
    let nodes = [Node(), Node()]
    let rules = Self.plain + [EdgeRule.handOver(HandOver(from: nodes[0]) { _, _ in nil })]
    for rule in rules {
      var edge = PlainEdge(toDependency: nodes[0], by: rule) ?? PlainEdge()
      #expect(!edge.isUnnoted(to: nodes[1], by: .output))
      #expect(rules.filter { edge.isUnnoted(to: nodes[0], by: $0) } == [rule])
      edge.note()
      #expect(!edge.isUnnoted(to: nodes[0], by: rule) && edge.takeDependency()?.key == .near)
    }
  }

  // MARK: In a procedure

  @Test(
    "the only dependency needs no attachment, whatever else the procedure has",
    arguments: [0, 1, 2])
  func onlyDependency(names: Int) {
    let (node, dependency) = (Node(), Node())
    if names == 1 { node.name = "before" }
    node.add(dependency: dependency)
    if names == 2 { node.name = "after" }
    #expect(node.dependencies == [dependency])
    #expect(node.read { $0.connections == nil && $0.attachments.isEmpty == (names == 0) })
    node.remove(dependency: Node())
    #expect(node.dependencies == [dependency])
    node.remove(dependency: dependency)
    #expect(node.dependencies.isEmpty && node.read { $0.attachments.isEmpty == (names == 0) })
    node.add(dependency: dependency)
    #expect(node.dependencies == [dependency])
  }

  @Test("of several dependencies the order is that of adding, also when the first was alone")
  func order() {
    let (node, others) = (Node(), (0..<4).map { _ in Node() })
    for other in others { node.add(dependency: other) }
    #expect(node.dependencies == others)
    node.remove(dependency: others[0])
    #expect(node.dependencies == Array(others[1...]))
    for other in others[1...] { node.remove(dependency: other) }
    node.add(dependency: others[3])
    #expect(node.dependencies == [others[3]])
  }

  @Test("dependents come out in the order in which they came, the one in the word first")
  func dependents() {
    let (node, dependents) = (Node(), (0..<4).map { _ in Node() })
    let keys = dependents.compactMap { node.addDependent($0, by: .requirement(.any)) }
    #expect(keys.count == 4 && keys[0] == .near && keys[1] == .first)
    #expect(node.removeDependent(keys[0]) && !node.removeDependent(keys[0]))
    // Not before the others, though the word is free.
    #expect(node.addDependent(dependents[0], by: .requirement(.any)) != .near)
    #expect(node.removeDependent(keys[2]) && !node.removeDependent(keys[2]))
  }
}

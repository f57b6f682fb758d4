/// Nodes and what each of them depends on, always on earlier ones.
struct Graph: Sendable {
  /// By node.
  let dependencies: [[Int]]

  /// Two edges a node to nodes drawn from all earlier ones, the same graph each time.
  static func random(nodes: Int) -> Graph {
    var state: UInt64 = 42
    func next(below bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    return Graph(
      dependencies: (0..<nodes).map { node in
        guard node > 1 else { return [] }
        let first = next(below: node)
        let second = (first + 1 + next(below: node - 1)) % node
        return [first, second]
      })
  }
}

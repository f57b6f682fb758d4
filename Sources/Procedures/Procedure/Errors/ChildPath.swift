/// The names from a group down to a child, the outermost first. Each group puts its own in front, in O(1).
final class ChildPath: @unchecked Sendable {
  private let name: String
  /// Changes in the `deinit` only.
  @safe @exclusivity(unchecked) private var rest: ChildPath?

  init(_ name: String, _ rest: ChildPath?) {
    self.name = name
    self.rest = rest
  }

  /// Iterative: groups may be nested thousands deep.
  deinit {
    var next = rest.take()
    while var path = next.take(), isKnownUniquelyReferenced(&path) { next = path.rest.take() }
  }

  var names: [String] {
    var names: [String] = []
    var next: ChildPath? = self
    while let path = next {
      names.append(path.name)
      next = path.rest
    }
    return names
  }
}

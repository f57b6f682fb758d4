internal import ProcedurePrimitives

/// The places that a token has on others, one on each: a list of a few, a table of many.
///
/// With a table the release of a parent costs the same however many there are.
enum CancellationParents: Sendable {
  typealias Parent = CancellationLinks.Parent

  case few(SmallList<Parent>)
  case many([CancellationState: CancellationLinks.Place])

  /// The most parents of a list. A table becomes a list again when it has half of these.
  private static let most = 8

  init() { self = .few(SmallList()) }

  var isEmpty: Bool { count == 0 }

  var count: Int {
    switch self {
    case .few(let list): list.count
    case .many(let table): table.count
    }
  }

  /// Nil if there are none or several.
  var only: Parent? {
    if case .few(let list) = self, list.count == 1 { list[0] } else { nil }
  }

  /// All parents, the oldest first if they are few.
  var all: SmallList<Parent> {
    switch self {
    case .few(let list): list
    case .many(let table): .many(ContiguousArray(table.lazy.map(Parent.init)))
    }
  }

  mutating func takeAll() -> SmallList<Parent> {
    exchange(&self, with: CancellationParents()).all
  }

  func contains(_ state: CancellationState) -> Bool {
    switch self {
    case .few(let list): list.contains { $0.state === state }
    case .many(let table): table[state] != nil
    }
  }

  /// Adds a parent that is not among them.
  mutating func append(_ parent: consuming Parent) {
    switch consume self {
    case .few(var list):
      list.append(parent)
      self = list.count <= Self.most ? .few(list) : .many(Self.table(of: list))
    case .many(var table):
      table[parent.state] = parent.place
      self = .many(table)
    }
  }

  /// Removes a parent, which the caller keeps alive: with a lock held nothing may be released.
  mutating func remove(_ state: CancellationState) {
    switch consume self {
    case .few(var list):
      if let index = list.firstIndex(where: { $0.state === state }) { _ = list.remove(at: index) }
      self = .few(list)
    case .many(var table):
      table[state] = nil
      // Amortised O(1): as many have left as are copied.
      if table.count <= Self.most / 2 {
        self = .few(CancellationParents.many(table).all)
      } else if table.count < table.capacity / 4 {
        self = .many(Self.table(of: CancellationParents.many(table).all))
      } else {
        self = .many(table)
      }
    }
  }

  private static func table(
    of list: SmallList<Parent>
  ) -> [CancellationState: CancellationLinks.Place] {
    Dictionary(uniqueKeysWithValues: list.lazy.map { ($0.state, $0.place) })
  }
}

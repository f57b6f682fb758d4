internal import ProcedurePrimitives

/// The unfinished procedures of one key of a `ProcedureStore`, in the order in which they were
/// added.
///
/// Each member waits for its predecessor by a `LineDependency`. A cancelled member may finish
/// early, and leaves the line from the middle: then its successor waits for the next predecessor.
///
/// ```
///   running A  <-  B  <-  C        B is cancelled, and finishes:        running A  <-  C
/// ```
///
/// Invariant: a member that has not started waits for its predecessor, or the predecessor is about
/// to notify it.
class KeyedBacklog: KeyTable.Entry, @unchecked Sendable {
  struct Member: Sendable {
    let procedure: Procedure
    /// The callers that want it; nil if none may join it.
    let audience: SharedCancellation?
  }

  private final var members = Slab<Member>()
  private final var order = SlabList()

  /// All entries of the table of a store are lines.
  static func of(_ entry: KeyTable.Entry) -> KeyedBacklog {
    unsafe unsafeDowncast(entry, to: KeyedBacklog.self)
  }

  override final var isEmpty: Bool { order.isEmpty }

  final var count: Int { members.count }
  final var all: [Procedure] { members.elements(of: order).map(\.procedure) }
  final var last: Member? { members.last(of: order) }

  final func append(_ member: Member) -> SlabKey { members.append(member, to: &order) }

  final func remove(_ key: SlabKey) -> Member? { members.remove(key, from: &order) }

  /// The predecessor of a member, with its key; nil if the member is the first, or has left.
  final func member(before key: SlabKey) -> (Procedure, SlabKey)? {
    guard members.contains(key) else { return nil }
    let place = members.place(before: key.place)
    guard place != Slab<Member>.nowhere else { return nil }
    return (members[place].procedure, members.key(at: place))
  }
}

/// A procedure's membership of a line, which it leaves when it has finished.
struct LinePlace: AttachedValue {
  struct Content: Sendable {
    let table: KeyTable
    let line: KeyedBacklog
    let key: SlabKey

    /// A new dependency on the predecessor, if there is one.
    func dependency() -> LineDependency? {
      table.withLock { line.member(before: key) }.map { earlier, earlierKey in
        LineDependency(
          on: earlier, at: Self(table: table, line: line, key: earlierKey), for: self)
      }
    }

    /// Removes the finished procedure from the line.
    func leave() {
      let left = table.remove(from: line) { line.remove(key) }
      left?.audience?.complete()
    }
  }

  var content: Content?

  func procedureDidLeave() { content?.leave() }
}

/// The dependency of a procedure on its predecessor in its line. It is not one of the user's
/// `dependencies`.
final class LineDependency: Dependency, @unchecked Sendable {
  private let earlierPlace: LinePlace.Content
  private let place: LinePlace.Content

  /// - Parameters:
  ///   - earlierPlace: the predecessor's place.
  ///   - place: the dependent's place.
  init(
    on earlier: Procedure, at earlierPlace: LinePlace.Content, for place: LinePlace.Content
  ) {
    self.earlierPlace = earlierPlace
    self.place = place
    super.init(on: earlier)
  }

  override var isDeclared: Bool { false }

  override func letGo(_ dependent: Procedure, on worker: Worker?) {
    // 1. The predecessor has finished, but its thread may not have left the line yet: do that here.
    earlierPlace.leave()
    // 2. If the predecessor finished early, the dependent may have another one, and waits for it.
    if let next = place.dependency(), dependent.wait(for: next, insteadOf: self) { return }
    super.letGo(dependent, on: worker)
  }
}

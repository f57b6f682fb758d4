internal import ProcedurePrimitives

/// The unfinished procedures of one key of a `ProcedureStore`, in the order in which they were added.
///
/// Each waits for the one before, by a `LineDependency`. One that ends before its turn, because it was cancelled, leaves
/// the line from the middle: then the one behind it waits for the next before it, and so on.
///
/// ```
///   running A  <-  B  <-  C        B is cancelled, and finishes:        running A  <-  C
/// ```
///
/// Invariant: a member that has not started waits for the one before it, or that is about to notify it.
class KeyedBacklog: KeyTable.Entry, @unchecked Sendable {
  struct Member: Sendable {
    let procedure: Procedure
    /// Those who want it, if others may join it.
    let audience: SharedCancellation?
  }

  @safe @exclusivity(unchecked) private final var members = Slab<Member>()
  @safe @exclusivity(unchecked) private final var order = SlabList()

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

  /// The one before a member, and its key; nil if the member is the first, or has left.
  final func member(before key: SlabKey) -> (Procedure, SlabKey)? {
    guard members.contains(key) else { return nil }
    let place = members.place(before: key.place)
    guard place != Slab<Member>.nowhere else { return nil }
    return (members[place].procedure, members.key(at: place))
  }
}

/// The place of a procedure in a line, which it leaves when it has finished.
final class LinePlace: Attachment, @unchecked Sendable {
  struct Content: Sendable {
    let table: KeyTable
    let line: KeyedBacklog
    let key: SlabKey

    /// The procedure that it must wait for, if any.
    func dependency() -> LineDependency? {
      table.withLock { line.member(before: key) }.map { earlier, earlierKey in
        LineDependency(
          on: earlier, at: Self(table: table, line: line, key: earlierKey), for: self)
      }
    }

    /// The procedure there has finished.
    func leave() {
      let left = table.remove(from: line) { line.remove(key) }
      left?.audience?.complete()
    }
  }

  @safe @exclusivity(unchecked) var content: Content?

  override func procedureDidLeave() { content?.leave() }
}

/// A procedure waits for the one before it in its line. No dependency in the eyes of the user.
final class LineDependency: Dependency, @unchecked Sendable {
  private let earlierPlace: LinePlace.Content
  private let place: LinePlace.Content

  /// - Parameters:
  ///   - earlierPlace: that of the one before it.
  ///   - place: that of the dependent.
  init(
    on earlier: Procedure, at earlierPlace: LinePlace.Content, for place: LinePlace.Content
  ) {
    self.earlierPlace = earlierPlace
    self.place = place
    super.init(on: earlier)
  }

  override var isDeclared: Bool { false }

  override func letGo(_ dependent: Procedure, on worker: Worker?) {
    // 1. It has finished, though the thread that saw to that may not have come to its place yet.
    earlierPlace.leave()
    // 2. If it did so before its turn, there are others before the dependent.
    if let next = place.dependency(), dependent.wait(for: next, insteadOf: self) { return }
    super.letGo(dependent, on: worker)
  }
}

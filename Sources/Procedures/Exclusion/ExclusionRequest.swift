internal import ProcedurePrimitives

/// What one procedure excludes others over, from when it asks until it has finished.
///
/// Its mutable part is guarded by the lock of the table.
final class ExclusionRequest: @unchecked Sendable {
  enum Status: Sendable {
    case idle
    /// In the line of each category, at the level given.
    case waiting([Place])
    case held
  }

  struct Place: Sendable {
    let level: Int
    let isReturned: Bool
    let key: SlabKey
  }

  let procedure: Procedure
  let list: ReadyList
  let categories: [ExclusionCategory]
  /// The groups around it that exclude others themselves.
  let lineage: Set<ObjectIdentifier>

  var status = Status.idle
  /// It was offered all it wants when it had no slot: it asks again at the head of the line.
  var goesFirst = false

  init(
    _ categories: [ExclusionCategory], for procedure: Procedure, in list: ReadyList,
    lineage: Set<ObjectIdentifier>
  ) {
    self.categories = categories
    self.procedure = procedure
    self.list = list
    self.lineage = lineage
  }
}

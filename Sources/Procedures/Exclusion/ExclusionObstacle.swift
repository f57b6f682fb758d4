/// What keeps a procedure out of one category.
struct ExclusionObstacle: Sendable {
  let category: ExclusionCategory
  /// In the order in which they asked.
  let holders: [ExclusionRequest]
  /// So many of them have to finish.
  let count: Int
}

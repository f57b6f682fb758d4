/// Requests for the same categories, waiting in the order of their tickets: if the first cannot be
/// let in, none can. It has the ticket of its first, and the age of its oldest.
///
/// It stands at one level, of a category that keeps its first out. Guarded by the lock of the table.
final class ExclusionLine: ExclusionWaiter, @unchecked Sendable {
  /// The part that all requests in it share.
  struct Key: Hashable, Sendable {
    let limits: [ExclusionLimit]
    let outer: ObjectIdentifier?

    init(of request: ExclusionRequest) {
      limits = request.limits
      outer = request.outer.map(ObjectIdentifier.init)
    }
  }

  let key: Key
  @safe @exclusivity(unchecked) var waiters = ExclusionOrder<ExclusionRequest>()
  @safe @exclusivity(unchecked) var level: ExclusionLevel
  /// The index of the limit of the category that it stands at.
  @safe @exclusivity(unchecked) var index: Int
  @safe @exclusivity(unchecked) var turnPlace = 0
  @safe @exclusivity(unchecked) var agePlace = 0

  var first: ExclusionRequest? { waiters.first }
  var ticket: UInt64 { first?.ticket ?? .max }
  var age: UInt64 { waiters.oldest?.age ?? .max }

  init(_ key: Key, at level: ExclusionLevel, index: Int) {
    self.key = key
    self.level = level
    self.index = index
  }
}

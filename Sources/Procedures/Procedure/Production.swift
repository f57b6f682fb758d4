/// A procedure that is to be added once the will-add observers have returned.
struct Production: Sendable {
  enum Target: Sendable {
    /// Onto the queue, or into the group, that the producer is in.
    case home
    /// Already a child of the producer; it starts when the observers know.
    case ownChild
    /// A child that was there when the producer, a group, executed.
    case announced
  }

  /// The outcome of a call of `produce`.
  enum Way: Sendable {
    case refused
    case add(ReadyList)
    case requestTurn(ReadyList?)
  }

  let procedure: Procedure
  let target: Target
  /// The children that were added in one call, of which this is the last to be announced.
  var completes: [Procedure] = []
}

internal import ProcedurePrimitives

/// Something that is cancelled with a token, and is none itself: it is marked with the tokens that
/// depend on that one, before any handler is called.
package protocol CancellationFollower: AnyObject, Sendable {
  /// The first part: from now on the follower reads cancelled. Called once, by the thread that
  /// cancels the token; threads that must not run ahead of it wait for it.
  ///
  /// So it must run no user code and release nothing: the appended entry keeps any object whose
  /// last reference it may hold. It must not allocate per follower: a thread in the allocator waits
  /// until other threads leave it.
  ///
  /// - Parameter walk: marks the follower's own token, if it has one, in the same step. Another
  ///   cancel that finds the follower marked finds this walk by that token, and waits for it.
  func mark(
    becauseOf reason: CancellationReason, by walk: FollowerWalk, into marked: inout [MarkedFollower]
  )

  /// The second part, which may run user code.
  func deliverCancel(_ reason: CancellationReason)
}

/// The walk that marks a follower.
package struct FollowerWalk: Equatable, Sendable {
  let marking: TreeMarking

  package static func == (left: FollowerWalk, right: FollowerWalk) -> Bool {
    left.marking === right.marking
  }

  /// Returns when everything that the walk marks reads cancelled. Must be called without a lock,
  /// and not by the walker.
  package func wait() { marking.wait() }
}

/// A follower that reads cancelled, or the rest of a tree of followers.
package struct MarkedFollower: Sendable {
  /// The rest of the follower's cancel.
  package enum Rest: Sendable {
    /// Another cancel came first, or the rest of a tree includes the follower.
    case nothing
    case delivery
    /// To deliver those of a tree: calls its argument with each.
    case tree(@Sendable ((any CancellationFollower) -> Void) -> Void)
    /// That of another walk, which marks the rest of a tree.
    case walk(FollowerWalk)
  }

  /// Nil for the rest of a tree.
  let follower: (any CancellationFollower)?
  let reason: CancellationReason
  /// Whether this cancel was the follower's first.
  let isFirst: Bool
  /// The follower's own token, if it has one and is cancelled.
  let own: CancellationState?
  let rest: Rest

  init(
    _ follower: (any CancellationFollower)?, _ reason: CancellationReason, isFirst: Bool,
    own: CancellationState?, rest: Rest
  ) {
    (self.follower, self.reason, self.isFirst) = (follower, reason, isFirst)
    (self.own, self.rest) = (own, rest)
  }

  /// The rest of a tree; its members with tokens come before.
  ///
  /// - Parameter forEach: calls its argument with each member that the walk has marked first.
  package init(
    restOfTree reason: CancellationReason,
    _ forEach: @escaping @Sendable ((any CancellationFollower) -> Void) -> Void
  ) {
    self.init(nil, reason, isFirst: true, own: nil, rest: .tree(forEach))
  }

  /// Another walk marks the rest of a tree, and its thread delivers it. This walk calls no user
  /// code before the other is done.
  package init(tree walk: FollowerWalk) {
    self.init(nil, .requested, isFirst: false, own: nil, rest: .walk(walk))
  }

  /// Carries out the rest, after the handlers of the follower's own token have been called.
  func carryOutRest() {
    switch rest {
    case .nothing, .walk: break
    case .delivery: follower?.deliverCancel(reason)
    case .tree(let forEach): forEach { $0.deliverCancel(reason) }
    }
  }

  /// Those whose cancels the rest delivers.
  fileprivate var followers: [any CancellationFollower] {
    switch rest {
    case .nothing, .walk: return []
    case .delivery: return follower.map { [$0] } ?? []
    case .tree(let forEach):
      var members: [any CancellationFollower] = []
      forEach { members.append($0) }
      return members
    }
  }
}

/// The followers that a thread lets go on after the handlers that it calls now: they read
/// cancelled, and their cancels have not been delivered.
package final class UndeliveredCancels: @unchecked Sendable {
  /// The address of the innermost one whose handlers the calling thread calls.
  private static let place = ThreadWord()

  private struct State {
    var rests = Fifo<MarkedFollower>()
    /// The address of the next outer one of the same thread.
    var outer: UInt = 0
  }

  /// Only the thread that calls the handlers uses it.
  @safe @exclusivity(unchecked) private var state = State()

  /// Whether the cancels are delivered, and what they lead to comes after the handlers.
  private let isDelivered: Bool

  init() { isDelivered = false }

  /// Runs `body`, which calls handlers that one follower waits for.
  package static func withhold(
    _ follower: any CancellationFollower, isDelivered: Bool, while body: () -> Void
  ) {
    let cancels = UndeliveredCancels(of: follower, isDelivered: isDelivered)
    cancels.begin()
    body()
    cancels.end()
  }

  private init(of follower: any CancellationFollower, isDelivered: Bool) {
    self.isDelivered = isDelivered
    append(MarkedFollower(follower, .requested, isFirst: true, own: nil, rest: .delivery))
  }

  func append(_ rest: MarkedFollower) { state.rests.append(rest) }

  /// Carries out the oldest rest, and removes it.
  func carryOutFirst() {
    state.rests.first?.carryOutRest()
    _ = state.rests.popFirst()
  }

  /// The calling thread calls handlers from now on.
  func begin() {
    state.outer = Self.place.value
    Self.place.value = unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
  }

  /// All handlers have returned.
  func end() { Self.place.value = state.outer }

  /// Whether the calling thread calls handlers for which followers wait.
  package static var exist: Bool { place.value != 0 }

  /// The followers that wait for a handler which the calling thread has called.
  package static var followers: [(follower: any CancellationFollower, isDelivered: Bool)] {
    var all: [(follower: any CancellationFollower, isDelivered: Bool)] = []
    var address = place.value
    while let pointer = unsafe UnsafeRawPointer(bitPattern: address) {
      let cancels = unsafe Unmanaged<UndeliveredCancels>.fromOpaque(pointer).takeUnretainedValue()
      all += cancels.state.rests.elements.flatMap(\.followers).map { ($0, cancels.isDelivered) }
      address = cancels.state.outer
    }
    return all
  }
}

/// The entry of a follower on its token, which does not keep the follower alive.
final class WeakFollower: Sendable {
  /// `Weak` needs a class type, and an existential is none.
  private struct Reference {
    weak var follower: (any CancellationFollower)?
  }

  private let reference: Reference

  init(_ follower: any CancellationFollower) {
    reference = Reference(follower: follower)
  }

  var follower: (any CancellationFollower)? { reference.follower }
}

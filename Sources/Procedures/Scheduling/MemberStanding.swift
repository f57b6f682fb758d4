/// As what an item is added.
enum MemberRole: Sendable {
  case member
  /// One of those that a group is made of.
  case founding
  /// Another member needs it: a closed list accepts it too, and it is not held back.
  case need
  /// Others may be held back because of it.
  case barrier

  /// Whether the barriers of the queue, if it has some, treat it otherwise than most.
  var isSpecialToBarriers: Bool {
    switch self {
    case .member, .founding: false
    case .need, .barrier: true
    }
  }
}

/// Properties of an item, fixed when it is added.
struct MemberStanding: Sendable {
  let urgency: Urgency
  let readiness: Readiness
  /// The attempt in which it has come that far.
  var attempt: UInt32 = 0
  var role = MemberRole.member
  /// Whether it is added together with others, and starts when all are members.
  var isInBatch = false

  /// Whether nothing changes if it joins a line of its own, and that one's members all join later.
  var mayArriveLate: Bool {
    switch readiness {
    case .waiting: true
    case .start: urgency.isNormal
    case .evaluate: false
    }
  }

  /// Notes it in the item, which is in no list yet.
  @inline(__always)
  func note(in item: some Schedulable) {
    var membership = Membership()
    membership.attempt = attempt
    membership.urgency = urgency
    membership.isReady = readiness == .start
    membership.isInBatch = isInBatch
    item.membership = membership
  }
}

/// The fate of an added item.
enum Insertion: Sendable, Equatable {
  /// By itself, or later together with all others there are: when the list begins.
  case accepted(isAnnounced: Bool)
  /// It waits until it is allowed to go on.
  case held
  /// The list has closed.
  case refused
}

/// How far a member has come that has not started.
enum Readiness: Sendable, Equatable {
  /// It still waits, or nothing has changed.
  case waiting
  /// Its conditions can be evaluated, once a worker has time.
  case evaluate
  /// Nothing but a slot, and what it excludes others from, is missing.
  case start
}

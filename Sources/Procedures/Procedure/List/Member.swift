internal import ProcedurePrimitives

#if MODEL || CHAOS
  internal import Synchronization
#endif

/// As what an procedure is added.
enum MemberRole: Sendable {
  case member
  /// One of a group's first children.
  case initialChild
  /// Another member needs it: a closed list accepts it too, and it is not held back.
  case prerequisite
  /// Others may be held back because of it.
  case barrier

  /// Whether the barriers of the queue, if it has some, treat it otherwise than most.
  var isSpecialToBarriers: Bool {
    switch self {
    case .member, .initialChild: false
    case .prerequisite, .barrier: true
    }
  }
}

/// Properties of an procedure, fixed when it is added.
struct Placement: Sendable {
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

  /// Notes it in the procedure, which is in no list yet.
  @inline(__always)
  func note(in procedure: Procedure) {
    var membership = Membership()
    membership.attempt = attempt
    membership.urgency = urgency
    membership.isReady = readiness == .start
    membership.isInBatch = isInBatch
    procedure.membership = membership
  }
}

/// The fate of an added procedure.
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
  /// Nothing but a slot and its categories is missing.
  case start
}

/// How a member stands in its list.
struct Membership: Sendable {
  /// The attempt in which it has come as far as it is.
  var attempt: UInt32 = 0
  private var bits = Self.listBits
  var urgency = Urgency()

  private static let listBits: UInt8 = 15
  private static let ready: UInt8 = 1 << 4
  private static let exclusive: UInt8 = 1 << 5
  private static let kept: UInt8 = 1 << 6
  private static let inBatch: UInt8 = 1 << 7

  /// The line that it stands in; `none` of an procedure that is no member.
  var line: StandingLine {
    get { StandingLine(index: bits & Self.listBits) }
    set { bits = bits & ~Self.listBits | newValue.index }
  }

  /// For an arrival, or a member in a batch: whether it waits for nothing but a slot. In a batch it also waits for
  /// the others.
  var isReady: Bool {
    get { bits & (Self.ready | Self.inBatch) == Self.ready }
    set { bits = newValue ? bits | Self.ready : bits & ~Self.ready }
  }

  /// Whether others that are added in the same call may be no members yet: it waits for them, whatever else.
  var isInBatch: Bool {
    get { bits & Self.inBatch != 0 }
    set { bits = newValue ? bits | Self.inBatch : bits & ~Self.inBatch }
  }

  /// Whether it asks, or asked, for something that it excludes others from.
  var isExclusive: Bool {
    get { bits & Self.exclusive != 0 }
    set { bits = newValue ? bits | Self.exclusive : bits & ~Self.exclusive }
  }

  /// Whether its list owns a reference to it. Not while the worker that starts it has taken that over.
  var isKept: Bool {
    get { bits & Self.kept != 0 }
    set { bits = newValue ? bits | Self.kept : bits & ~Self.kept }
  }
}

/// The neighbours of a member in the line that it stands in: the bits of each, 0 if there is none.
struct MemberLinks: Sendable {
  fileprivate var next: UInt = 0
  fileprivate var previous: UInt = 0
}

/// A reference to an procedure that is counted by hand, so that handing it on costs nothing.
///
/// One reference is owned at a time on behalf of a member: by the arrivals, then by its list, and by the
/// worker that starts it, until that has finished it or gives it back.
@safe struct Member: Sendable, Equatable {
  private let reference: Unmanaged<Procedure>

  /// A reference that is owned by the caller.
  @inline(__always)
  static func retaining(_ procedure: Procedure) -> Member {
    schedulingPoint()
    #if MODEL || CHAOS
      procedure.memberReferences.taken()
    #endif
    return unsafe Member(reference: .passRetained(procedure))
  }

  /// A reference to a member that is owned elsewhere.
  @inline(__always)
  static func unowned(_ procedure: Procedure) -> Member {
    unsafe Member(reference: .passUnretained(procedure))
  }

  /// From what `bits` was.
  @inline(__always)
  init?(bits: UInt) {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: bits) else { return nil }
    unsafe reference = .fromOpaque(pointer)
  }

  @inline(__always)
  private init(reference: Unmanaged<Procedure>) {
    unsafe self.reference = reference
  }

  /// The address, whose lowest four bits are zero.
  var bits: UInt { @inline(__always) get { UInt(bitPattern: unsafe reference.toOpaque()) } }

  var id: ObjectIdentifier { with { ObjectIdentifier($0) } }

  /// A counted reference like any other.
  var procedure: Procedure { unsafe reference.takeUnretainedValue() }

  /// Whether nothing refers to it, however weakly, but its list. Called under the list's lock.
  var isReferencedByListOnly: Bool {
    guard membership.isKept, isOwnedOnce else { return false }
    return with { _getWeakRetainCount($0) == 1 && _getUnownedRetainCount($0) == 1 }
  }

  /// Whether the reference that is owned, here or by the list whose lock is held, is the only one.
  ///
  /// The reference stays the same from one end of this to the other: it is only lent, to something that can be asked.
  var isOwnedOnce: Bool {
    var procedure = unsafe reference.takeRetainedValue()
    let isOnly = isKnownUniquelyReferenced(&procedure)
    _ = unsafe Unmanaged.passRetained(procedure)
    return isOnly
  }

  /// Runs `body` without counting a reference: the caller owns one, or holds the lock of the list.
  @inline(__always)
  func with<Result>(_ body: (Procedure) -> Result) -> Result {
    unsafe reference._withUnsafeGuaranteedRef(body)
  }

  func retain() {
    schedulingPoint()
    #if MODEL || CHAOS
      with { $0.memberReferences.taken() }
    #endif
    _ = unsafe reference.retain()
  }

  /// Gives the reference up that is owned. Not under a lock, if it may be the last.
  ///
  /// Not inlined: beside other releases the optimizer would count it once more.
  @inline(never)
  func release() {
    schedulingPoint()
    #if MODEL || CHAOS
      with { $0.memberReferences.givenUp() }
    #endif
    unsafe reference.release()
  }

  static func == (left: Member, right: Member) -> Bool { left.bits == right.bits }

  var membership: Membership {
    @inline(__always) get { with { $0.membership } }
    @inline(__always) nonmutating set { with { $0.membership = newValue } }
  }

  var next: Member? {
    @inline(__always) get { Member(bits: with { $0.links.next }) }
    @inline(__always) nonmutating set { with { $0.links.next = newValue?.bits ?? 0 } }
  }

  var previous: Member? {
    @inline(__always) get { Member(bits: with { $0.links.previous }) }
    @inline(__always) nonmutating set { with { $0.links.previous = newValue?.bits ?? 0 } }
  }

  var age: UInt32 {
    @inline(__always) get { with { $0.age } }
    @inline(__always) nonmutating set { with { $0.age = newValue } }
  }

  /// Whether it became a member before `other`. It may be older by two thousand million members.
  func isOlder(than other: Member) -> Bool { Int32(bitPattern: age &- other.age) < 0 }
}

#if MODEL || CHAOS
  /// The references of a procedure that are counted by hand, counted once more: one that is given up before it was taken
  /// is found at once, whoever else keeps the procedure.
  struct MemberReferences: ~Copyable, Sendable {
    private let count = Atomic<Int>(0)

    func taken() { count.wrappingAdd(1, ordering: .relaxed) }

    func givenUp() {
      let left = count.wrappingSubtract(1, ordering: .relaxed).newValue
      requireConsistency(
        left >= 0, "Internal inconsistency: a member's reference was given up before it was taken")
    }
  }
#endif

/// Members in a row, linked through themselves: joining and leaving anywhere is O(1).
struct MemberLine: Sendable {
  private(set) var first: Member?
  private var last: Member?

  var isEmpty: Bool { first == nil }

  @inline(__always)
  mutating func append(_ member: Member) {
    member.previous = last
    member.next = nil
    if let last { last.next = member } else { first = member }
    last = member
  }

  /// Takes out a member, which must be in this line.
  @inline(__always)
  mutating func remove(_ member: Member) {
    let (previous, next) = (member.previous, member.next)
    if let previous { previous.next = next } else { first = next }
    if let next { next.previous = previous } else { last = previous }
  }

  /// Calls with the first ones, at most that many.
  func forEach(ofFirst limit: Int, _ body: (Member) -> Void) {
    var current = first
    for _ in 0..<limit {
      guard let member = current else { return }
      body(member)
      current = member.next
    }
  }

  func forEach(_ body: (Member) -> Void) {
    var current = first
    while let member = current {
      body(member)
      current = member.next
    }
  }
}

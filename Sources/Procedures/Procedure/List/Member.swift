internal import ProcedurePrimitives

#if MODEL || CHAOS
  internal import Synchronization
#endif

/// The role of an added procedure.
enum MemberRole: Sendable {
  case member
  /// An initial child of a group.
  case initialChild
  /// Another member needs it: even a closed queue accepts it, and barriers do not hold it back.
  case prerequisite
  /// It may hold others back.
  case barrier

  /// Whether the queue's barriers treat it differently from most procedures.
  var isSpecialToBarriers: Bool {
    switch self {
    case .member, .initialChild: false
    case .prerequisite, .barrier: true
    }
  }
}

/// The properties of a procedure at the time when it is added.
struct EnqueueRequest: Sendable {
  let urgency: Urgency
  let readiness: Readiness
  /// The attempt in which it reached that readiness.
  var attempt: UInt32 = 0
  var role = MemberRole.member
  /// Whether it is added together with others, and starts only when all are members.
  var isInBatch = false

  /// Whether it may be queued without the lock.
  var mayArriveLate: Bool {
    switch readiness {
    case .waiting: true
    case .start: urgency.isNormal
    case .evaluate: false
    }
  }

  /// Writes the properties into the procedure, which is in no list yet.
  @inline(__always)
  func note(in procedure: Procedure, _ held: borrowing HeldList) {
    var membership = Membership()
    membership.attempt = attempt
    membership.urgency = urgency
    membership.isReady = readiness == .start
    membership.isInBatch = isInBatch
    held.change(procedure) { $0 = membership }
  }
}

/// The fate of an added procedure.
enum Insertion: Sendable, Equatable {
  /// If `isAnnounced`, the caller announces it; otherwise its group does, when it executes.
  case accepted(isAnnounced: Bool)
  /// It waits until the queue's barriers let it go on.
  case held
  /// The list has closed.
  case refused
}

/// The readiness of a member that has not started.
enum Readiness: Sendable, Equatable {
  /// It still waits, or nothing has changed.
  case waiting
  /// Its conditions can be evaluated, once a worker is available.
  case evaluate
  /// Only a slot and its categories are missing.
  case start
}

/// The state of a member in its list.
struct Membership: Sendable {
  /// The attempt in which it reached its readiness.
  var attempt: UInt32 = 0
  private var bits = Self.listBits
  var urgency = Urgency()

  private static let listBits: UInt8 = 15
  private static let ready: UInt8 = 1 << 4
  private static let exclusive: UInt8 = 1 << 5
  private static let kept: UInt8 = 1 << 6
  private static let inBatch: UInt8 = 1 << 7

  /// The line in which it stands; `none` for a procedure that is no member.
  var bucket: Bucket {
    get { Bucket(index: bits & Self.listBits) }
    set { bits = bits & ~Self.listBits | newValue.index }
  }

  /// For an arrival, or a member in a batch: whether it waits only for a slot. A batch member also
  /// waits for the rest of the batch.
  var isReady: Bool {
    get { bits & (Self.ready | Self.inBatch) == Self.ready }
    set { bits = newValue ? bits | Self.ready : bits & ~Self.ready }
  }

  /// Whether others that are added in the same call may not be members yet: it waits for them in
  /// any case.
  var isInBatch: Bool {
    get { bits & Self.inBatch != 0 }
    set { bits = newValue ? bits | Self.inBatch : bits & ~Self.inBatch }
  }

  /// Whether it requests, or requested, something that excludes others.
  var isExclusive: Bool {
    get { bits & Self.exclusive != 0 }
    set { bits = newValue ? bits | Self.exclusive : bits & ~Self.exclusive }
  }

  /// Whether its list owns a reference to it. The worker that starts it takes that reference over.
  var isRetainedByList: Bool {
    get { bits & Self.kept != 0 }
    set { bits = newValue ? bits | Self.kept : bits & ~Self.kept }
  }
}

/// The neighbours of a member in its line: the bits of each, or 0.
struct MemberLinks: Sendable {
  fileprivate var next: UInt = 0
  fileprivate var previous: UInt = 0
}

/// A manually counted reference to a procedure, so that handing it on costs nothing.
///
/// One reference is owned at a time on behalf of a member: by the arrivals, then by its list, then
/// by the worker that starts it, until the procedure has finished or the worker gives it back.
@safe struct Member: Sendable, Equatable {
  private let reference: Unmanaged<Procedure>

  /// A reference that the caller owns.
  @inline(__always)
  static func retaining(_ procedure: Procedure) -> Member {
    schedulingPoint()
    #if MODEL || CHAOS
      procedure.memberReferences.taken()
    #endif
    return unsafe Member(reference: .passRetained(procedure))
  }

  /// A reference to a member that has an owner elsewhere.
  @inline(__always)
  static func unowned(_ procedure: Procedure) -> Member {
    unsafe Member(reference: .passUnretained(procedure))
  }

  /// Restores a reference from its `bits`.
  @inline(__always)
  init?(bits: UInt) {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: bits) else { return nil }
    unsafe reference = .fromOpaque(pointer)
  }

  @inline(__always)
  private init(reference: Unmanaged<Procedure>) {
    unsafe self.reference = reference
  }

  /// The address; its lowest four bits are zero.
  var bits: UInt { @inline(__always) get { UInt(bitPattern: unsafe reference.toOpaque()) } }

  var id: ObjectIdentifier { with { ObjectIdentifier($0) } }

  /// A reference that is counted automatically.
  var procedure: Procedure { unsafe reference.takeUnretainedValue() }

  /// Whether only its list refers to it, weak references included.
  func isReferencedByListOnly(_ held: borrowing HeldList) -> Bool {
    guard held[self].isRetainedByList, isOwnedOnce else { return false }
    return with { _getWeakRetainCount($0) == 1 && _getUnownedRetainCount($0) == 1 }
  }

  /// Whether the owned reference is the only one. Its owner is the caller, or the list whose lock
  /// is held.
  ///
  /// The reference stays the same throughout: a variable borrows it, so that it can be examined.
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

  /// Gives up the owned reference. No lock may be held if it may be the last one.
  ///
  /// Not inlined: next to other releases the optimizer would count it once more.
  @inline(never)
  func release() {
    schedulingPoint()
    #if MODEL || CHAOS
      with { $0.memberReferences.givenUp() }
    #endif
    unsafe reference.release()
  }

  static func == (left: Member, right: Member) -> Bool { left.bits == right.bits }

  fileprivate var links: UnsafeMutablePointer<MemberLinks> {
    @inline(__always) get { unsafe with { unsafe $0.links.addressWithoutProof } }
  }
}

/// The proof that the lock of a list is held. With it, the places of the list's members can be read
/// and changed, and without it they cannot.
///
/// A `ListMachine` has one, and cannot be copied: whoever has the machine, or a part of it that is
/// lent its proof, holds the lock.
struct HeldList: ~Copyable, Sendable {
  /// For the machine of a list, and for tests.
  init() {}

  /// For a procedure that no list has yet: it belongs to the thread that adds it, which holds the
  /// procedure's lock until others may find it.
  @inline(__always)
  static func adding(_ procedure: Procedure) -> HeldList {
    procedure.assertLocked()
    return HeldList()
  }

  #if MODEL || CHAOS
    /// For a procedure that is being deallocated.
    static func deallocating(_ procedure: borrowing Procedure) -> HeldList { HeldList() }
  #endif

  /// The membership of a procedure in the list.
  subscript(procedure: Procedure) -> Membership {
    @inline(__always) get { unsafe procedure.membership.address(with: self).pointee }
  }

  subscript(member: Member) -> Membership {
    @inline(__always) get {
      unsafe member.with { unsafe $0.membership.addressWithoutProof }.pointee
    }
  }

  // Functions, for those who have the proof as a property: compilers up to 6.3 cannot compile an
  // assignment through a property without copies for ThreadSanitizer.

  /// Changes the membership of a procedure in the list.
  @inline(__always)
  func change(_ procedure: Procedure, _ change: (inout Membership) -> Void) {
    unsafe change(&procedure.membership.address(with: self).pointee)
  }

  @inline(__always)
  func change(_ member: Member, _ change: (inout Membership) -> Void) {
    unsafe change(&member.with { unsafe $0.membership.addressWithoutProof }.pointee)
  }

  @inline(__always)
  func setAge(_ age: UInt32, of member: Member) {
    unsafe member.with { unsafe $0.age.addressWithoutProof }.pointee = age
  }

  /// The next member in its line.
  subscript(nextOf member: Member) -> Member? {
    @inline(__always) get { Member(bits: unsafe member.links.pointee.next) }
    @inline(__always) nonmutating set { unsafe member.links.pointee.next = newValue?.bits ?? 0 }
  }

  /// The previous member in its line.
  subscript(previousOf member: Member) -> Member? {
    @inline(__always) get { Member(bits: unsafe member.links.pointee.previous) }
    @inline(__always) nonmutating set {
      unsafe member.links.pointee.previous = newValue?.bits ?? 0
    }
  }

  /// A number that grows with each procedure that becomes a member of the list. For a member that
  /// is `isExclusive`, the place of its request in the list: see `Buckets`.
  subscript(ageOf member: Member) -> UInt32 {
    @inline(__always) get { unsafe member.with { unsafe $0.age.addressWithoutProof }.pointee }
  }
}

#if MODEL || CHAOS
  /// Counts the manually counted references of a procedure a second time: a reference that is given
  /// up before it was taken is found at once, even if other references keep the procedure alive.
  struct MemberReferences: ~Copyable, Sendable {
    private let count = Atomic<Int>(0)
    #if MODEL
      private let place = ModelPlace()
    #endif

    func taken() {
      touch()
      count.wrappingAdd(1, ordering: .relaxed)
    }

    func givenUp() {
      touch()
      let left = count.wrappingSubtract(1, ordering: .relaxed).newValue
      requireConsistency(
        left >= 0, "Internal inconsistency: a member's reference was given up before it was taken")
    }

    /// The explorer may not change the order of two changes.
    private func touch() {
      #if MODEL
        ModelSchedule.thread?.touch(place)
      #endif
    }
  }
#endif

/// A list of members, linked through themselves: joining and leaving anywhere is O(1).
struct MemberLine: Sendable {
  private(set) var first: Member?
  private var last: Member?

  var isEmpty: Bool { first == nil }

  @inline(__always)
  mutating func append(_ member: Member, _ held: borrowing HeldList) {
    held[previousOf: member] = last
    held[nextOf: member] = nil
    if let last { held[nextOf: last] = member } else { first = member }
    last = member
  }

  /// Removes a member, which must be in this line.
  @inline(__always)
  mutating func remove(_ member: Member, _ held: borrowing HeldList) {
    let (previous, next) = (held[previousOf: member], held[nextOf: member])
    if let previous { held[nextOf: previous] = next } else { first = next }
    if let next { held[previousOf: next] = previous } else { last = previous }
  }

  /// Calls `body` with the first members, at most `limit`.
  func forEach(
    ofFirst limit: Int, _ held: borrowing HeldList, _ body: (Member) -> Void
  ) {
    var current = first
    for _ in 0..<limit {
      guard let member = current else { return }
      body(member)
      current = held[nextOf: member]
    }
  }

  func forEach(_ held: borrowing HeldList, _ body: (Member) -> Void) {
    var current = first
    while let member = current {
      body(member)
      current = held[nextOf: member]
    }
  }
}

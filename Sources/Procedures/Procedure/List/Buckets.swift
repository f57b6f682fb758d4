internal import ProcedureExclusion
internal import ProcedurePrimitives

/// The line of each member of a list, the slots in use, and the members' exclusion requests.
///
/// Ready members stand in a bucket for each priority: first members that have stepped aside and may
/// go on, in the order in which they were first taken, then members that became ready later.
///
/// Invariant: `slotsInUse` is the number of granted and running members.
struct Buckets: ~Copyable, Sendable {
  /// A member that has been taken before, and waits for a slot again.
  private struct Returned: Ticketed, Sendable {
    let member: Member
    let request: MemberRequest
    var ticket: UInt64 { request.ticket }
    var heapPlace: Int {
      get { Int(request.inList.heapPlace) }
      nonmutating set { request.inList.heapPlace = UInt32(newValue) }
    }
  }

  /// Lent to all code that changes or reads the places of members: the machine that has the buckets
  /// exists only under the lock of its list.
  let held = HeldList()

  private(set) var evaluable = MemberLine()
  private(set) var granted = MemberLine()
  private var waiting = MemberLine()
  private var excluded = MemberLine()
  private var running = MemberLine()
  /// Members of normal priority that are ready for the first time: nearly all ready members.
  private var normal = MemberLine()
  /// The other buckets of ready members, by priority; for each priority, first the members that are
  /// ready for the first time. Empty until one is needed.
  private var readyLines: ContiguousArray<MemberLine> = []
  /// A bit for each bucket that is not empty.
  private var readyBuckets: UInt16 = 0
  /// Members that have returned, by priority, in the order in which they were first taken. They
  /// come before all members that are ready for the first time, which were behind them.
  private var returned: ContiguousArray<TicketHeap<Returned>> = []
  /// The requests of the members that are `isExclusive`. The age of such a member is in its
  /// request, and the place of the request here is in the member instead.
  private var requests = Slab<MemberRequest>()
  private var allRequests = SlabList()
  private(set) var slotsInUse = 0

  // MARK: Joining and leaving

  /// Adds a member that stands in no line.
  @inline(__always)
  mutating func put(_ member: Member, _ bucket: Bucket) {
    if bucket.hasSlot { slotsInUse += 1 }
    held.change(member) { $0.bucket = bucket }
    switch bucket {
    case .running: running.append(member, held)
    case .waiting: waiting.append(member, held)
    case .evaluable: evaluable.append(member, held)
    case .excluded: excluded.append(member, held)
    case .granted: granted.append(member, held)
    case .ready(.normal):
      normal.append(member, held)
      readyBuckets |= bucket.readyBit
    default: putInBucket(member, bucket)
    }
  }

  /// Removes a member for good. The caller takes its request afterwards.
  @inline(__always)
  mutating func remove(_ member: Member) {
    take(member, outOf: held[member].bucket)
    held.change(member) { $0.bucket = .none }
  }

  mutating func move(_ member: Member, to target: Bucket) {
    move(member, from: held[member].bucket, to: target)
  }

  /// Moves a member whose present line the caller knows.
  @inline(__always)
  mutating func move(
    _ member: Member, from bucket: Bucket, to target: Bucket
  ) {
    take(member, outOf: bucket)
    put(member, target)
  }

  /// Starts a member that is ready, or was granted its categories.
  @inline(__always)
  mutating func start(_ member: Member) {
    let bucket = held[member].bucket
    if bucket == .granted { return move(member, from: .granted, to: .running) }
    takeReady(member, outOf: bucket)
    put(member, .running)
  }

  @inline(__always)
  private mutating func take(_ member: Member, outOf bucket: Bucket) {
    if bucket.hasSlot { slotsInUse -= 1 }
    switch bucket {
    case .running: running.remove(member, held)
    case .waiting: waiting.remove(member, held)
    case .evaluable: evaluable.remove(member, held)
    case .excluded: excluded.remove(member, held)
    case .granted: granted.remove(member, held)
    default: takeReady(member, outOf: bucket)
    }
  }

  @inline(__always)
  private mutating func takeReady(_ member: Member, outOf bucket: Bucket) {
    guard bucket == .ready(.normal) else { return takeOutOfBucket(member, bucket) }
    normal.remove(member, held)
    if normal.isEmpty { readyBuckets &= ~bucket.readyBit }
  }

  @inline(never)
  private mutating func putInBucket(_ member: Member, _ bucket: Bucket) {
    if readyLines.isEmpty {
      readyLines = ContiguousArray(repeating: MemberLine(), count: Bucket.readyCount)
    }
    readyLines[bucket.readyIndex].append(member, held)
    readyBuckets |= bucket.readyBit
  }

  @inline(never)
  private mutating func takeOutOfBucket(_ member: Member, _ bucket: Bucket) {
    if bucket.returnedIndex != nil { leaveReturned(member, bucket) }
    readyLines[bucket.readyIndex].remove(member, held)
    if readyLines[bucket.readyIndex].isEmpty { readyBuckets &= ~bucket.readyBit }
  }

  // MARK: Requests

  mutating func note(_ request: MemberRequest, of member: Member) {
    requireConsistency(
      !held[member].isExclusive, "Internal inconsistency: a member with two requests")
    held.change(member) { $0.isExclusive = true }
    request.inList.memberAge = held[ageOf: member]
    let place = requests.append(request, to: &allRequests).place
    held.setAge(place, of: member)
  }

  @inline(__always)
  mutating func takeRequest(of member: Member) -> MemberRequest? {
    held[member].isExclusive ? removeRequest(of: member) : nil
  }

  @inline(never)
  private mutating func removeRequest(of member: Member) -> MemberRequest {
    held.change(member) { $0.isExclusive = false }
    let request = requests.remove(at: held[ageOf: member], from: &allRequests)
    held.setAge(request.inList.memberAge, of: member)
    return request
  }

  @inline(__always)
  func request(of member: Member) -> MemberRequest? {
    held[member].isExclusive ? knownRequest(of: member) : nil
  }

  @inline(never)
  private func knownRequest(of member: Member) -> MemberRequest { requests[held[ageOf: member]] }

  /// Whether a member joined before another. Correct for up to two thousand million members
  /// between.
  func isOlder(_ member: Member, than other: Member) -> Bool {
    Int32(bitPattern: age(of: member) &- age(of: other)) < 0
  }

  private func age(of member: Member) -> UInt32 {
    request(of: member)?.inList.memberAge ?? held[ageOf: member]
  }

  /// Moves an excluded or granted member back to its place among the ready ones.
  mutating func returnToPlace(_ member: Member, _ request: MemberRequest) {
    let bucket = Bucket.returned(held[member].urgency.priority)
    move(member, to: bucket)
    guard let index = bucket.returnedIndex else { return }
    if returned.isEmpty {
      returned = ContiguousArray(repeating: TicketHeap(), count: ProcedurePriority.allCases.count)
    }
    returned[index].insert(Returned(member: member, request: request))
  }

  private mutating func leaveReturned(_ member: Member, _ bucket: Bucket) {
    guard let request = request(of: member), let index = bucket.returnedIndex else {
      stopBecauseOfInconsistency("Internal inconsistency: returned, but without a request")
    }
    returned[index].remove(Returned(member: member, request: request))
  }

  // MARK: Queries

  /// Whether a member waits for others: for its dependencies, or for procedures that exclude it.
  var hasWaiting: Bool { !waiting.isEmpty || hasExcluded }

  /// Whether a member stands in line for categories.
  var hasExcluded: Bool { !excluded.isEmpty }

  var hasReady: Bool { @inline(__always) get { readyBuckets != 0 } }

  /// Whether a ready member has at least this priority.
  @inline(__always)
  func hasReady(atLeast priority: ProcedurePriority) -> Bool {
    readyBuckets >= Bucket.ready(priority).readyBit
  }

  /// The member that gets the next slot.
  var firstReady: Member? {
    @inline(__always) get {
      guard readyBuckets != 0 else { return nil }
      let index = 15 - readyBuckets.leadingZeroBitCount
      if index == Bucket.ready(.normal).readyIndex { return normal.first }
      if index & 1 == 1 { return returned[index / 2].first?.member }
      return readyLines[index].first
    }
  }

  /// The first that would be taken, if there were threads and slots enough.
  var first: Member? { granted.first ?? evaluable.first ?? firstReady }

  /// Whether a ready member gets a free slot before an excluded one.
  func isPreceded(_ member: Member, _ request: MemberRequest) -> Bool {
    let bucket = Bucket.returned(held[member].urgency.priority)
    if readyBuckets >= bucket.readyBit << 1 { return true }
    guard readyBuckets & bucket.readyBit != 0, let index = bucket.returnedIndex,
      let first = returned[index].first
    else { return false }
    return first.ticket < request.ticket
  }

  func forEachWithSlot(_ body: (Member) -> Void) {
    for bucket in [granted, running] { bucket.forEach(held, body) }
  }

  func forEachReady(_ body: (Member) -> Void) {
    guard hasReady else { return }
    normal.forEach(held, body)
    for bucket in readyLines { bucket.forEach(held, body) }
  }

  func forEach(_ body: (Member) -> Void) {
    for bucket in [running, granted, excluded, evaluable, waiting, normal] {
      bucket.forEach(held, body)
    }
    for bucket in readyLines { bucket.forEach(held, body) }
  }

  /// Visits the first members of each line, at most `limit`: those have stood there longest.
  func forEach(ofFirst limit: Int, _ body: (Member) -> Void) {
    for bucket in [running, granted, excluded, evaluable, waiting, normal] {
      bucket.forEach(ofFirst: limit, held, body)
    }
    for bucket in readyLines { bucket.forEach(ofFirst: limit, held, body) }
  }
}

struct Bucket: Equatable, Sendable {
  let index: UInt8

  static let waiting = Bucket(index: 0)
  static let evaluable = Bucket(index: 1)
  static let excluded = Bucket(index: 2)
  static let granted = Bucket(index: 3)
  static let running = Bucket(index: 4)
  static let none = Bucket(index: 15)

  static func ready(_ priority: ProcedurePriority) -> Bucket {
    Bucket(index: 5 + 2 * priority.rawValue)
  }

  /// Members that are ready again, taken in the order of `returned`.
  static func returned(_ priority: ProcedurePriority) -> Bucket {
    Bucket(index: 6 + 2 * priority.rawValue)
  }

  var isReady: Bool { index >= 5 && self != .none && index & 1 == 1 }

  var isReturned: Bool { returnedIndex != nil }

  static let readyCount = 2 * ProcedurePriority.allCases.count

  var hasSlot: Bool { self == .granted || self == .running }

  /// The index in `returned`, if it is such a line.
  fileprivate var returnedIndex: Int? {
    index > 5 && index & 1 == 0 ? Int(index - 6) / 2 : nil
  }

  /// The index in `readyLines`, if it is a bucket.
  fileprivate var readyIndex: Int { Int(index) - 5 }

  fileprivate var readyBit: UInt16 {
    @inline(__always) get { index < 5 ? 0 : 1 << UInt16(index - 5) }
  }
}

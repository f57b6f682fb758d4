internal import ProcedurePrimitives

/// Items that were added to a list, until a worker looks at it the next time.
///
/// Adding is one compare-exchange, waits for no worker and needs no memory: arrivals are linked
/// through themselves, the latest first. A worker takes all that came meanwhile at once.
///
/// Closed, it accepts none: that of a list that may refuse some, or has to do something with each.
///
/// | bits     | meaning                                                                     |
/// |----------|-----------------------------------------------------------------------------|
/// | `closed` | none is accepted                                                            |
/// | `due`    | one is there that is ready, and a worker is expected or the caller has looked |
/// | others   | the address of the latest arrival; 0 if none is there                       |
///
/// Each change of the word acquires and releases, so that adding and taking are ordered as by a lock: a
/// caller whose change came after a worker's sees what that worker had written before.
struct Arrivals: ~Copyable, Sendable {
  private static var closed: UInt { 1 }
  private static var due: UInt { 2 }
  private static var flags: UInt { closed | due }

  private let word: AtomicWord

  init(isOpen: Bool) {
    word = AtomicWord(isOpen ? 0 : Self.closed)
  }

  /// Whether none is there. One atomic load.
  var isEmpty: Bool { word.load() & ~Self.flags == 0 }

  /// Whether any may be accepted. One atomic load.
  var isOpen: Bool { word.load() & Self.closed == 0 }

  /// - Parameters:
  ///   - procedure: whose `membership` says how it stands.
  ///   - isExpected: not zero if a worker that was asked for will look.
  @inline(__always)
  func append(_ procedure: Procedure, isExpected: borrowing AtomicByte) -> ArrivalAnswer {
    let isReady = procedure.membership.isReady
    let member = Member.retaining(procedure)
    var found = word.load()
    while true {
      guard found & Self.closed == 0 else {
        // Not the last: the caller has one too.
        member.release()
        return .closed
      }
      member.next = Member(bits: found & ~Self.flags)
      let new = member.bits | found & Self.flags | (isReady ? Self.due : 0)
      let (isDone, now) = word.replace(found, with: new)
      if isDone { break }
      found = now
    }
    guard isReady, found & Self.due == 0 else { return .accepted }
    return isExpected.load() != 0 ? .accepted : .acceptedUnexpected
  }

  /// Accepts none from here on. Those that are there remain.
  func close() {
    word.insert(Self.closed)
  }

  /// From here on the arrivals of callers that found a worker expected can be seen, and a caller whose
  /// procedure cannot be seen yet will see what the calling thread has written.
  func order() {
    word.order()
  }

  /// Takes all, in the order in which they arrived.
  func takeAll() -> ArrivalLine {
    var next = Member(bits: word.keep(Self.closed) & ~Self.flags)
    var line = ArrivalLine()
    while let member = next {
      next = member.next
      line.prepend(member)
    }
    return line
  }
}

/// The fate of an added procedure.
enum ArrivalAnswer: Sendable {
  case accepted
  /// It is the first that needs a worker, and none is expected: the caller must look.
  case acceptedUnexpected
  case closed
}

/// Items in the order in which they arrived, linked through themselves.
struct ArrivalLine: Sendable {
  private var first: Member?
  private(set) var count = 0
  /// How many of the remaining ones could start.
  private(set) var readyCount = 0

  var isEmpty: Bool { first == nil }

  @inline(__always)
  mutating func prepend(_ member: Member) {
    member.next = first
    first = member
    count += 1
    if member.membership.isReady { readyCount += 1 }
  }

  @inline(__always)
  mutating func popFirst() -> Member? {
    guard let member = first else { return nil }
    first = member.next
    count -= 1
    if member.membership.isReady { readyCount -= 1 }
    return member
  }

  func forEach(_ body: (Member) -> Void) {
    var next = first
    while let member = next {
      body(member)
      next = member.next
    }
  }
}

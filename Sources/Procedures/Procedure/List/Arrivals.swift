internal import ProcedurePrimitives

/// Items that were added to a list since a worker last looked at it.
///
/// Adding costs one compare-exchange, waits for no worker and allocates nothing: arrivals are
/// linked through themselves, the latest first. A worker takes all of them at once.
///
/// A list that may refuse procedures, or must handle each of them, closes its arrivals: then they
/// accept none.
///
/// | bits     | meaning                                                                     |
/// |----------|-----------------------------------------------------------------------------|
/// | `closed` | no arrival is accepted                                                      |
/// | `due`    | a ready arrival is there, and a worker is expected or the caller has looked |
/// | others   | the address of the latest arrival; 0 if there is none                       |
///
/// Each change of the word has acquire and release ordering, so that adding and taking are ordered
/// as by a lock: a caller whose change comes after a worker's sees the earlier writes of that
/// worker.
struct Arrivals: ~Copyable, Sendable {
  private static var closed: UInt { 1 }
  private static var due: UInt { 2 }
  private static var flags: UInt { closed | due }

  private let word: AtomicWord

  init(isOpen: Bool) {
    word = AtomicWord(isOpen ? 0 : Self.closed)
  }

  /// Whether there is no arrival. One atomic load.
  var isEmpty: Bool { word.load() & ~Self.flags == 0 }

  /// Whether an arrival may be accepted. One atomic load.
  var isOpen: Bool { word.load() & Self.closed == 0 }

  /// - Parameters:
  ///   - procedure: its `membership` says whether it is ready.
  ///   - isExpected: not zero if a requested worker will look.
  ///   - held: `HeldList.adding(_:)`.
  /// - Returns: whether the caller must look at the list, because this is the first arrival that
  ///   needs a worker, and none is expected. Nil if the arrivals are closed.
  @inline(__always)
  func append(
    _ procedure: Procedure, isExpected: borrowing AtomicByte, _ held: borrowing HeldList
  ) -> Bool? {
    // 1. The reference is taken before another thread can find the procedure here.
    let isReady = held[procedure].isReady
    let member = Member.retaining(procedure)
    var found = word.load()
    // 2. Link it to the latest arrival, and try again if that has changed since.
    while true {
      guard found & Self.closed == 0 else {
        // Not the last reference: the caller has one too.
        member.release()
        return nil
      }
      held[nextOf: member] = Member(bits: found & ~Self.flags)
      let new = member.bits | found & Self.flags | (isReady ? Self.due : 0)
      let (isDone, now) = word.replace(found, with: new)
      if isDone { break }
      found = now
    }
    // 3. Only the first ready arrival needs a look. `isExpected` is read after the change of the
    //    word: a worker that arrives clears it before it takes the arrivals.
    return isReady && found & Self.due == 0 && isExpected.load() == 0
  }

  /// Accepts no further arrivals. The present ones remain.
  func close() {
    word.insert(Self.closed)
  }

  /// Afterwards the arrivals of callers that found a worker expected are visible, and a caller
  /// whose procedure is not visible yet will see the earlier writes of the calling thread.
  func order() {
    word.order()
  }

  /// Takes all arrivals, in the order in which they arrived.
  func takeAll(_ held: borrowing HeldList) -> ArrivalLine {
    var next = Member(bits: word.keep(Self.closed) & ~Self.flags)
    var line = ArrivalLine()
    while let member = next {
      next = held[nextOf: member]
      line.prepend(member, held)
    }
    return line
  }
}

/// Items in the order in which they arrived, linked through themselves.
struct ArrivalLine: Sendable {
  private var first: Member?
  private(set) var count = 0
  /// The number of remaining items that could start.
  private(set) var readyCount = 0

  var isEmpty: Bool { first == nil }

  @inline(__always)
  mutating func prepend(_ member: Member, _ held: borrowing HeldList) {
    held[nextOf: member] = first
    first = member
    count += 1
    if held[member].isReady { readyCount += 1 }
  }

  @inline(__always)
  mutating func popFirst(_ held: borrowing HeldList) -> Member? {
    guard let member = first else { return nil }
    first = held[nextOf: member]
    count -= 1
    if held[member].isReady { readyCount -= 1 }
    return member
  }

  func forEach(_ held: borrowing HeldList, _ body: (Member) -> Void) {
    var next = first
    while let member = next {
      body(member)
      next = held[nextOf: member]
    }
  }
}

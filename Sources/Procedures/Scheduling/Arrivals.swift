internal import ProcedurePrimitives

/// Procedures that were added to a queue, until a thread looks at its list the next time.
///
/// A thread that adds waits for no worker, and a worker takes all that came meanwhile at once:
/// the list's own lock, which every worker acquires for each procedure, is not needed for adding.
///
/// Closed, it accepts no procedure: that of a group, which may refuse a child, and that of a queue
/// since it was cancelled as a whole, and cancels each procedure that is added.
struct Arrivals: ~Copyable, Sendable {
  struct Arrival: Sendable {
    let procedure: Procedure
    let standing: ReadyListStateMachine.Standing
  }

  enum Answer: Sendable {
    case accepted
    /// It is the first that needs a worker, and none is expected: the caller must look.
    case acceptedUnexpected
    case closed
  }

  struct Content: Sendable {
    var batch = ArrivalBatch()
    var isOpen: Bool
    /// Whether there is one that needs a worker, and its caller must look, or a worker is expected.
    var isLookDue = false
  }

  private let content: Contended<Content>
  private let isAnyThere = AtomicByte(0)

  init(isOpen: Bool) {
    content = Contended(Content(isOpen: isOpen))
  }

  /// Whether no procedure is there. One atomic load.
  var isEmpty: Bool { isAnyThere.load() == 0 }

  /// - Parameter isExpected: not zero if a worker that was asked for will look.
  func append(_ arrival: Arrival, isExpected: borrowing AtomicByte) -> Answer {
    content.withLock { content in
      guard content.isOpen else { return .closed }
      if content.batch.isEmpty { isAnyThere.store(1) }
      content.batch.append(arrival)
      guard arrival.standing.readiness == .start, !content.isLookDue else { return .accepted }
      content.isLookDue = true
      return isExpected.load() != 0 ? .accepted : .acceptedUnexpected
    }
  }

  /// Accepts no procedure from here on. Those that are there remain.
  func close() {
    content.withLock { $0.isOpen = false }
  }

  /// Returns when the arrivals of callers that found a worker expected can be seen.
  func awaitAppends() {
    content.withLock { _ in }
  }

  /// Hands over all of them, in exchange for an empty batch.
  func takeAll(into batch: inout ArrivalBatch) {
    content.withLock { content in
      swap(&content.batch, &batch)
      content.isLookDue = false
      isAnyThere.store(0)
    }
  }
}

/// Procedures in the order in which they arrived. First all are put in, then one after another is
/// taken out, without their references being counted.
struct ArrivalBatch: Sendable {
  /// A larger one gives its memory back when it is empty.
  private static let retainedCapacity = 1024

  private var arrivals = ContiguousArray<Arrivals.Arrival?>()
  private var taken = 0
  /// How many of those that are left could start.
  private(set) var readyCount = 0

  var count: Int { arrivals.count - taken }
  var isEmpty: Bool { arrivals.isEmpty }

  mutating func append(_ arrival: Arrivals.Arrival) {
    arrivals.append(arrival)
    if arrival.standing.readiness == .start { readyCount += 1 }
  }

  mutating func popFirst() -> Arrivals.Arrival? {
    guard taken < arrivals.count, let arrival = arrivals[taken].take() else { return nil }
    taken += 1
    if arrival.standing.readiness == .start { readyCount -= 1 }
    if taken == arrivals.count {
      arrivals.removeAll(keepingCapacity: taken <= Self.retainedCapacity)
      taken = 0
    }
    return arrival
  }
}

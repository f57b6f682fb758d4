internal import Primitives

/// Procedures that were added to a queue, until somebody looks at its list the next time.
///
/// Whoever adds waits for no worker, and workers take what has been added meanwhile all at once: the
/// list's own lock, which every worker needs for each procedure, is not needed for adding.
///
/// Closed, it takes nobody: that of a group, which may refuse a child, and that of a queue since it
/// was cancelled as a whole, and cancels whoever comes.
struct Arrivals: ~Copyable, Sendable {
  struct Arrival: Sendable {
    let procedure: Procedure
    let standing: ReadyListStateMachine.Standing
  }

  enum Answer: Sendable {
    case accepted
    /// It is the first that needs a worker, and nobody is expected: somebody must look.
    case acceptedUnexpected
    case closed
  }

  /// Emptied by taking out one after another, which counts no references.
  typealias Batch = ContiguousArray<Arrival?>

  struct Content: Sendable {
    var batch = Batch()
    var isOpen: Bool
    /// Whether there is one that needs a worker, and somebody was told, or expected.
    var isLookDue = false
  }

  /// A larger batch gives its memory back.
  private static let retainedCapacity = 1024

  private let content: Locked<Content>
  private let isAnyThere = AtomicByte(0)

  init(isOpen: Bool) {
    content = Locked(Content(isOpen: isOpen))
  }

  /// Whether nobody is there. One atomic load.
  var isEmpty: Bool { isAnyThere.load() == 0 }

  /// - Parameter isExpected: not zero if somebody will look without being told.
  func append(_ arrival: Arrival, isExpected: borrowing AtomicByte) -> Answer {
    content.withLock { content in
      guard content.isOpen else { return .closed }
      content.batch.append(arrival)
      if content.batch.count == 1 { isAnyThere.store(1) }
      guard arrival.standing.readiness != .waiting, !content.isLookDue else { return .accepted }
      content.isLookDue = true
      return isExpected.load() != 0 ? .accepted : .acceptedUnexpected
    }
  }

  /// Takes nobody from here on. Whoever is there remains.
  func close() {
    content.withLock { $0.isOpen = false }
  }

  /// Hands over all of them, in the order in which they came.
  ///
  /// - Parameter batch: empty; where they are put, and where the next ones will not be.
  func forEach(through batch: inout Batch, _ body: (Arrival) -> Void) {
    content.withLock { content in
      swap(&content.batch, &batch)
      content.isLookDue = false
      isAnyThere.store(0)
    }
    for index in batch.indices {
      if let arrival = batch[index].take() { body(arrival) }
    }
    batch.removeAll(keepingCapacity: batch.count <= Self.retainedCapacity)
  }
}

/// The work that waits in a `WorkLine`, and whether its threads begin it in time.
///
/// | event         | effect                                                                      |
/// |---------------|-----------------------------------------------------------------------------|
/// | submit        | joins the line; the looks begin; if stalled, a surplus block becomes its    |
/// |               | own, and a spare thread begins if there is none                             |
/// | begin         | no longer stalled; the first leaves the line, unless the block is surplus   |
/// | begin (spare) | leaves the line while it is stalled; otherwise the spare thread ends        |
/// | block (spare) | does not count: waiting work, or the next submission, gets another          |
/// | look          | if work waited at the previous look, and none was begun since: stalled, and |
/// |               | one more spare thread                                                       |
/// | look          | if none waits, and none was begun since: the looks end                      |
///
/// Invariants: while work waits, a look is due. The pool's outstanding blocks are as many as the
/// waiting jobs and the surplus blocks.
struct WorkLineState: Sendable {
  /// The steps that the caller of an event must take.
  struct Needs: BitFlags {
    let rawValue: UInt8
    static let look = Needs(rawValue: 1)
    static let spareThread = Needs(rawValue: 2)
  }

  /// The number of futile looks, one second, before another spare thread while the process
  /// computes: the awaited threads may be at work, and another thread would only take their time.
  private static let patience = 50
  /// How many times `patience` doubles: up to eight seconds.
  private static let doublings = 3

  private var waiting = Fifo<WorkLine.Work>()
  /// The line's own threads that are idle.
  private var idleThreads: [Int]
  private let hasOwnThreads: Bool
  /// The spare threads that serve the line, without those whose job waits for procedures.
  private var spareThreads = 0
  /// How many outstanding blocks of the pool belong to work that a spare thread has begun. Each
  /// does nothing: if it began later work once the pool goes on, work that resubmits itself would
  /// run once for each of them before other blocks of the pool. While the pool is blocked, later
  /// work takes them over: otherwise each submission would leave one.
  private var surplusBlocks = 0
  /// Counts the jobs begun, on any thread.
  private var begun: UInt = 0
  private(set) var isStalled = false

  private var isWatched = false
  private var begunAtLook: UInt = 0
  private var waitedAtLook = false
  private var looksInVain = 0

  /// - Parameter idleThreads: how many threads the line has of its own.
  init(idleThreads: Int = 0) {
    self.idleThreads = (0..<idleThreads).reversed()
    hasOwnThreads = idleThreads > 0
  }

  /// - Returns: the own thread that must serve the line now, if one is idle; and whether a pool
  ///   must get a block for the work.
  mutating func submit(
    _ work: @escaping WorkLine.Work
  ) -> (idleThread: Int?, needsBlock: Bool, needs: Needs) {
    waiting.append(work)
    var needs = Needs(rawValue: 0)
    if !isWatched {
      (isWatched, begunAtLook, waitedAtLook) = (true, begun, true)
      needs.insert(.look)
    }
    needs.formUnion(needsFirstSpareThread())
    let takesOver = isStalled && surplusBlocks > 0
    if takesOver { surplusBlocks -= 1 }
    return (idleThreads.popLast(), !takesOver, needs)
  }

  private mutating func needsFirstSpareThread() -> Needs {
    guard isStalled, spareThreads == 0, !waiting.isEmpty else { return Needs(rawValue: 0) }
    spareThreads = 1
    return .spareThread
  }

  /// Called on a usual thread. A spare thread may have begun its work before.
  mutating func begin() -> WorkLine.Work? {
    isStalled = false
    guard surplusBlocks == 0 else {
      surplusBlocks -= 1
      return nil
    }
    return takeFirst()
  }

  /// - Returns: nil if nothing waits: the thread is idle.
  mutating func begin(onThread index: Int) -> WorkLine.Work? {
    let work = begin()
    if work == nil { idleThreads.append(index) }
    return work
  }

  /// - Returns: nil if the spare thread must end.
  mutating func beginOnSpareThread() -> WorkLine.Work? {
    let work = isStalled ? takeFirst() : nil
    if work == nil {
      spareThreads -= 1
    } else if !hasOwnThreads {
      surplusBlocks += 1
    }
    return work
  }

  /// The job of a spare thread waits for procedures from now on.
  mutating func spareThreadBlocks() -> Needs {
    spareThreads -= 1
    return needsFirstSpareThread()
  }

  mutating func spareThreadGoesOn() { spareThreads += 1 }

  /// No spare thread was free. A later look asks for one again.
  mutating func lacksSpareThread() { spareThreads -= 1 }

  /// - Parameter isComputing: whether the process has kept a processor busy since the last look.
  mutating func look(isComputing: Bool) -> Needs {
    let isMoving = begun != begunAtLook
    let isStuck = waitedAtLook && !isMoving
    (begunAtLook, waitedAtLook) = (begun, !waiting.isEmpty)
    if waiting.isEmpty {
      looksInVain = 0
      isWatched = isMoving
      return isMoving ? .look : []
    }
    guard isStuck else {
      looksInVain = 0
      return .look
    }
    isStalled = true
    looksInVain += 1
    // Each further spare thread waits twice as long.
    let patience =
      spareThreads > 0 && isComputing
      ? Self.patience << min(spareThreads - 1, Self.doublings) : 1
    guard looksInVain >= patience else { return .look }
    looksInVain = 0
    spareThreads += 1
    return [.look, .spareThread]
  }

  private mutating func takeFirst() -> WorkLine.Work? {
    let work = waiting.popFirst()
    if work != nil { begun &+= 1 }
    return work
  }
}

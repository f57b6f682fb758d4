internal import ProcedurePrimitives

/// The record of one procedure: instants in nanoseconds, and its waits. Names, types and errors are
/// kept unchanged, and become text when a timeline is written.
package struct RecordedProcedure: Sendable {
  package enum End: UInt8, Sendable {
    case succeeded
    case failed
    case cancelled
  }

  /// Stands for an instant that has not come.
  package static let never = Int64.min

  package let id: UInt64
  package let parent: UInt64
  package let type: AnyClass
  private let rootIndex: Int32
  package let isGroup: Bool
  package internal(set) var end: End?
  /// Whether a spare thread started it, because no thread of Dispatch's pool did.
  package internal(set) var ranOnSpareThread = false
  /// Its last priority.
  package internal(set) var priority = ProcedurePriority.normal

  package let enqueued: Int64
  package internal(set) var ready = never
  package internal(set) var started = never
  package internal(set) var executing = never
  package internal(set) var finished = never
  package internal(set) var cancelled = never

  /// How its asynchronous closure spends its time; nil for others.
  package internal(set) var steps: RecordedSteps?

  /// The last two waits, in the procedure's own memory: most have no more.
  private var lastWait: RecordedWait?
  private var waitBefore: RecordedWait?
  private var olderWaits: [RecordedWait] = []
  /// The numbers of the dependencies, in the order in which they ended.
  package internal(set) var dependencies: [UInt64] = []
  package internal(set) var name: String?
  package internal(set) var errors: [any Error] = []
  package internal(set) var reason: CancellationReason?
  /// The name of the procedure that an unfinished one waits for, if any.
  package internal(set) var awaited: String?

  /// The index of its queue, or outermost group, among the recorded ones.
  package var root: Int { Int(rootIndex) }

  /// The waits, in the order in which they happened.
  package var waits: [RecordedWait] { olderWaits + [waitBefore, lastWait].compactMap(\.self) }

  init(id: UInt64, in recording: ListRecording, type: AnyClass, isGroup: Bool, at now: Int64) {
    self.id = id
    parent = recording.parent
    rootIndex = Int32(truncatingIfNeeded: recording.root)
    self.type = type
    self.isGroup = isGroup
    enqueued = now
  }

  /// Its present wait is for that procedure.
  mutating func wait(for other: String, _ number: UInt64) {
    awaited = other
    if lastWait?.cause == .dependency || lastWait?.cause == .exclusion { lastWait?.other = number }
  }

  /// The last wait for a dependency was for this one, and ended before it did.
  mutating func nameLastDependency(_ dependency: EndedDependency) {
    func name(_ wait: inout RecordedWait?) -> Bool {
      guard wait?.cause == .dependency else { return false }
      wait?.name = dependency.name
      wait?.other = dependency.number
      return true
    }
    if name(&lastWait) || name(&waitBefore) { return }
    guard let index = olderWaits.lastIndex(where: { $0.cause == .dependency }) else { return }
    olderWaits[index].name = dependency.name
    olderWaits[index].other = dependency.number
  }

  /// Adds a wait; extends the last one, if the cause is the same.
  mutating func append(_ wait: RecordedWait) {
    if let last = lastWait, last.cause == wait.cause, last.end == wait.from,
      last.name == wait.name || wait.cause == .dependency
    {
      lastWait?.nanoseconds += wait.nanoseconds
      lastWait?.name = wait.name
      lastWait?.other = wait.other
      lastWait?.limit = wait.limit
    } else if wait.nanoseconds > 0 {
      if let waitBefore { olderWaits.append(waitBefore) }
      waitBefore = lastWait
      lastWait = wait
    }
  }
}

/// One wait.
package struct RecordedWait: Sendable {
  package let cause: WaitCause
  /// How many ran at once, or started in an interval; 0 for other causes, and for a category with
  /// one place.
  package internal(set) var limit: Int32
  /// The condition, the category, the event, or a dependency without a record; nil for other
  /// causes, and before the first condition that did not answer at once.
  package internal(set) var name: String?
  /// Its beginning.
  package let from: Int64
  package internal(set) var nanoseconds: Int64
  /// The record of the dependency, or of the holder, whose end ended it, or will end it; 0 if it is
  /// not known. For a barrier that waits, its own record; for a rate, the interval in nanoseconds.
  package internal(set) var other: UInt64

  package var end: Int64 { from + nanoseconds }

  init(
    _ cause: WaitCause, from: Int64, to end: Int64, name: String? = nil, other: UInt64 = 0,
    limit: Int32 = 0
  ) {
    self.cause = cause
    self.limit = limit
    self.name = name
    self.from = from
    self.nanoseconds = end - from
    self.other = other
  }
}

extension Hindrance {
  var recordedCause: WaitCause {
    switch self {
    case .group: .group
    case .suspension: .suspension
    case .slot: .slot
    case .worker: .worker
    }
  }
}

public import Observation
internal import ProcedurePrimitives

/// Shows the present state of a queue to SwiftUI and everything else that tracks observations.
///
/// ```swift
/// struct QueueView: View {
///   @Bindable var downloads: ProcedureQueueMonitor
///   var body: some View {
///     Toggle("Pause", isOn: $downloads.isSuspended)
///     List(downloads.procedures) { DownloadRow($0) }
///   }
/// }
/// ```
///
/// A monitor shows changes at most once in `interval`, and always the last one. Nothing on the
/// queue waits for the main actor. A monitor keeps its queue, not the other way round.
@Observable @MainActor
public final class ProcedureQueueMonitor: Monitoring {
  /// The queue that it shows.
  @ObservationIgnored public nonisolated let queue: ProcedureQueue

  /// How many procedures have finished since the monitor was made.
  public private(set) var finishedCount = 0

  private var listed: [Procedure] = []
  private var storedIsSuspended: Bool

  @ObservationIgnored private nonisolated let feed: MonitorFeed
  @ObservationIgnored private nonisolated let interval: Duration
  @ObservationIgnored private nonisolated let members: QueueMembers
  @ObservationIgnored private var memberMonitors = MonitorCache()

  /// Makes a monitor of a queue.
  ///
  /// - Parameters:
  ///   - queue: the queue to show, with everything that is on it and that you add.
  ///   - interval: the least time between two changes that are shown; one frame of a screen by
  ///     default.
  public init(_ queue: ProcedureQueue, interval: Duration = .milliseconds(16)) {
    self.queue = queue
    self.interval = interval
    feed = MonitorFeed(interval: interval)
    storedIsSuspended = queue.isSuspended
    members = QueueMembers(of: queue, feed)
    listed = members.current.unfinished
    feed.connect(to: self)
  }

  deinit { members.leave() }

  /// How many procedures have not finished.
  public var count: Int { listed.count }

  /// Monitors of the unfinished procedures, in the order in which they were added.
  public var procedures: [ProcedureMonitor] {
    memberMonitors.monitors(of: listed, interval: interval)
  }

  /// The finished share of all procedures since the monitor was made, from 0 to 1.
  ///
  /// It is 1 if there were none. It ignores the fractions of procedures: for those, use a group.
  public var fractionCompleted: Double {
    let total = finishedCount + listed.count
    return total == 0 ? 1 : Double(finishedCount) / Double(total)
  }

  /// Whether the queue starts nothing new. A value set here is shown at once, a value set on the
  /// queue with the next change.
  public var isSuspended: Bool {
    get { storedIsSuspended }
    set {
      queue.isSuspended = newValue
      storedIsSuspended = newValue
    }
  }

  func refresh() {
    let (unfinished, finishedCount) = members.current
    if listed != unfinished { listed = unfinished }
    if self.finishedCount != finishedCount { self.finishedCount = finishedCount }
    if storedIsSuspended != queue.isSuspended { storedIsSuspended = queue.isSuspended }
  }
}

/// The procedures on a queue, according to the events so far.
private final class QueueMembers: Sendable {
  private struct State: Sendable {
    var members: [ObjectIdentifier: (serial: Int, procedure: Procedure)] = [:]
    var lastSerial = 0
    var finishedCount = 0
    var recorder: Int?
  }

  private let queue: ProcedureQueue
  private let state = Locked(State())

  init(of queue: ProcedureQueue, _ feed: MonitorFeed) {
    self.queue = queue
    // Record later procedures first, then add the present ones: none is missed, and one may come
    // twice.
    let recorder = queue.record { [weak self] procedure in self?.add(procedure, feed) }
    state.withLock { $0.recorder = recorder }
    for procedure in queue.procedures { add(procedure, feed) }
  }

  var current: (unfinished: [Procedure], finishedCount: Int) {
    state.withLock { state in
      let members = state.members.values.sorted { $0.serial < $1.serial }
      return (members.map(\.procedure), state.finishedCount)
    }
  }

  func leave() {
    if let recorder = state.withLock({ $0.recorder.take() }) { queue.removeRecorder(recorder) }
  }

  private func add(_ procedure: Procedure, _ feed: MonitorFeed) {
    let isNew = state.withLock { state in
      guard state.members[ObjectIdentifier(procedure)] == nil else { return false }
      state.lastSerial += 1
      state.members[ObjectIdentifier(procedure)] = (state.lastSerial, procedure)
      return true
    }
    guard isNew else { return }
    feed.note()
    procedure.addDidFinishBlockObserver { [weak self] procedure, _ in
      self?.remove(procedure)
      feed.note()
    }
  }

  private func remove(_ procedure: Procedure) {
    let removed: Procedure? = state.withLock { state in
      guard let member = state.members.removeValue(forKey: ObjectIdentifier(procedure)) else {
        return nil
      }
      state.finishedCount += 1
      return member.procedure
    }
    _ = removed
  }
}

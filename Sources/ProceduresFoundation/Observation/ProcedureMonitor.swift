public import Observation
internal import ProcedurePrimitives

/// Shows the present state of a procedure or a group to SwiftUI and everything else that tracks
/// observations.
///
/// ```swift
/// struct UploadView: View {
///   let upload: ProcedureMonitor
///   var body: some View {
///     ProgressView(value: upload.fractionCompleted)
///     Button("Stop") { upload.procedure.cancel() }.disabled(upload.outcome != nil)
///   }
/// }
/// ```
///
/// A monitor shows changes at most once in `interval`, and always the last one. The procedure never
/// waits for the main actor. Properties that you do not read cost nothing: the monitor follows
/// `fractionCompleted` and `children` from when you first read them. It may show only at the start
/// that the procedure is on a queue. A monitor keeps its procedure, not the other way round. You
/// may make it at any time, even after the finish.
@Observable @MainActor
public final class ProcedureMonitor: Identifiable, Monitoring {
  /// The procedure that it shows.
  @ObservationIgnored public nonisolated let procedure: Procedure

  /// The step of the procedure's life.
  public private(set) var state: ProcedureState

  /// Whether it was cancelled.
  public private(set) var isCancelled: Bool

  /// How it ended; nil until it has finished.
  public private(set) var outcome: ProcedureOutcome?

  private var storedFraction = 0.0
  private var listed: [Procedure] = []

  @ObservationIgnored private nonisolated let feed: MonitorFeed
  @ObservationIgnored private nonisolated let interval: Duration
  @ObservationIgnored private let registration: ObserverRegistration
  @ObservationIgnored private let fractions = FractionReader()
  @ObservationIgnored private var followsChildren = false
  @ObservationIgnored private var childMonitors = MonitorCache()

  /// Makes a monitor of a procedure, or of a group.
  ///
  /// - Parameters:
  ///   - procedure: the procedure to show, in any state.
  ///   - interval: the least time between two changes that are shown; one frame of a screen by
  ///     default.
  public init(_ procedure: Procedure, interval: Duration = .milliseconds(16)) {
    let feed = MonitorFeed(interval: interval)
    self.procedure = procedure
    self.feed = feed
    self.interval = interval
    // Add the observer first, so that no change is missed.
    registration = procedure.add(
      observer: MonitorObserver(feed: feed, isGroup: procedure is GroupProcedure))
    state = procedure.state
    isCancelled = procedure.isCancelled
    outcome = procedure.outcome
    feed.connect(to: self)
    if state < .executing { feed.noteSoon() }
  }

  deinit { registration.remove() }

  /// The identity of the procedure.
  public nonisolated var id: ObjectIdentifier { ObjectIdentifier(procedure) }

  /// The procedure's name.
  public var name: String { procedure.name }

  /// How much of the work is done, from 0 to 1.
  public var fractionCompleted: Double {
    if fractions.latest == nil {
      fractions.begin(procedure, feed)
      storedFraction = procedure.fractionCompleted
    }
    return storedFraction
  }

  /// Monitors of a group's children, in the order in which they were added; empty for other
  /// procedures.
  ///
  /// It includes finished children, if the group keeps them. Costs O(n) for each read.
  public var children: [ProcedureMonitor] {
    if !followsChildren, let group = procedure as? GroupProcedure {
      followsChildren = true
      listed = group.children
    }
    return childMonitors.monitors(of: listed, interval: interval)
  }

  func refresh() {
    let state = procedure.state
    if self.state != state { self.state = state }
    if isCancelled != procedure.isCancelled { isCancelled = procedure.isCancelled }
    if state == .finished, outcome == nil { outcome = procedure.outcome }
    if let fraction = state == .finished ? 1 : fractions.latest, storedFraction != fraction {
      storedFraction = fraction
    }
    if followsChildren, let group = procedure as? GroupProcedure {
      let children = group.children
      if listed != children { listed = children }
    }
    // No event comes between willExecute and `execute()`.
    if state == .started { feed.noteSoon() }
  }
}

/// Marks the feed at each event of the procedure.
struct MonitorObserver: ProcedureObserver {
  let feed: MonitorFeed
  let isGroup: Bool

  var events: ProcedureEvents {
    let events: ProcedureEvents = [.willExecute, .didExecute, .didCancel, .willFinish, .didFinish]
    return isGroup ? events.union(.didAdd) : events
  }

  func will(execute procedure: Procedure, pendingExecute: PendingEvent) { feed.note() }
  func did(execute procedure: Procedure) { feed.note() }
  func did(cancel procedure: Procedure, withErrors errors: [any Error]) { feed.note() }
  func procedure(_ procedure: Procedure, didAdd newProcedure: Procedure) { feed.note() }
  func did(finish procedure: Procedure, withErrors errors: [any Error]) { feed.note() }

  func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent
  ) {
    feed.note()
  }
}

/// Marks the feed at each change of the fraction, once the fraction was read.
private final class FractionReader: Sendable {
  private struct Reading: Sendable {
    let task: Task<Void, Never>
    let latest: @Sendable () -> Double
  }

  private let reading = Locked<Reading?>(nil)

  deinit { reading.withLock { $0 }?.task.cancel() }

  /// The fraction; nil until `begin`. It costs O(1), even for a group.
  var latest: Double? {
    let latest = reading.withLock { $0?.latest }
    return latest?()
  }

  /// Called once.
  func begin(_ procedure: Procedure, _ feed: MonitorFeed) {
    let (changes, latest) = procedure.fractionChanges
    let task = Task { [weak feed] in
      for await _ in changes { feed?.note() }
    }
    reading.withLock { $0 = Reading(task: task, latest: latest) }
  }
}

/// The monitors of several procedures, made once each.
@MainActor struct MonitorCache {
  private var monitors: [ObjectIdentifier: ProcedureMonitor] = [:]

  nonisolated init() {}

  mutating func monitors(of procedures: [Procedure], interval: Duration) -> [ProcedureMonitor] {
    let result = procedures.map { procedure in
      monitors[ObjectIdentifier(procedure)] ?? ProcedureMonitor(procedure, interval: interval)
    }
    // Drop the monitors of procedures that are no longer in the list.
    if result.count != monitors.count || result.contains(where: { monitors[$0.id] == nil }) {
      monitors = Dictionary(result.map { ($0.id, $0) }) { first, _ in first }
    }
    return result
  }
}

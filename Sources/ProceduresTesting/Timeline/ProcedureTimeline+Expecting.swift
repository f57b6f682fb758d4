public import ProceduresTimeline

/// A timeline does not show what a test expects.
public struct TimelineError: Error, CustomStringConvertible {
  /// The expectation, the observation, and the summary of the timeline.
  public let description: String
}

/// Expectations about the order in which procedures ran.
extension ProcedureTimeline {
  /// Throws unless each of these started after the one before had finished.
  ///
  /// ```swift
  /// try timeline.expect(order: "fetch", "parse", "store")
  /// ```
  ///
  /// In virtual time work may take none: of two that took none at the same moment only dependencies say
  /// which came first. Without any it throws, and says so: look at the simulation's `log` then.
  ///
  /// - Parameter names: of procedures; of several with the same name the first that was enqueued is meant.
  public func expect(order names: String...) throws {
    let found = try Expectation(self, names)
    for (before, after) in zip(found.entries, found.entries.dropFirst()) {
      let expectation = "'\(after.name)' was to start after '\(before.name)' had finished"
      guard let end = before.finished, let start = after.started ?? after.cancelled, end <= start
      else { throw found.error(expectation) }
      // Otherwise the opposite would be as true.
      guard end < start || after.finished != before.started || found.leads(before, to: after) else {
        throw found.error(
          "\(expectation), but both took no time at the same moment, and '\(after.name)' does not"
            + " depend on the other: the times cannot tell, the log of a simulation can")
      }
    }
  }

  /// Throws unless there was a moment at which all of these ran: between started and finished.
  ///
  /// - Parameter names: of procedures, as in `expect(order:)`.
  public func expect(overlap names: String...) throws {
    let found = try Expectation(self, names)
    let start = found.entries.compactMap(\.started).max()
    let ends = found.entries.map(\.finished)
    let hasAllStarted = found.entries.allSatisfy { $0.started != nil }
    guard hasAllStarted, let start, ends.allSatisfy({ end in end.map { $0 > start } ?? true })
    else { throw found.error("these were to run at the same time: \(names.quoted)") }
  }

  /// Throws if two of these ran at the same moment.
  ///
  /// - Parameter names: of procedures, as in `expect(order:)`.
  public func expect(noOverlap names: String...) throws {
    let found = try Expectation(self, names)
    let started = found.entries.filter { $0.started != nil }
      .sorted { ($0.started ?? $0.enqueued, $0.id) < ($1.started ?? $1.enqueued, $1.id) }
    for (before, after) in zip(started, started.dropFirst()) {
      guard let start = after.started, let end = before.finished, end <= start else {
        throw found.error("'\(before.name)' and '\(after.name)' were not to overlap")
      }
    }
  }

  /// Throws unless the critical path consists of these procedures, from the first to the last.
  ///
  /// - Parameter names: of procedures.
  public func expect(criticalPath names: String...) throws {
    let snapshot = snapshot()
    let seen = snapshot.criticalPath.map(\.entry.name)
    guard seen == names else {
      throw TimelineError(
        description: "The critical path is \(seen.quoted), not \(names.quoted).\n"
          + snapshot.summary)
    }
  }
}

/// Entries that were asked for by name.
private struct Expectation {
  let entries: [ProcedureTimeline.Entry]
  private let snapshot: ProcedureTimeline.Snapshot

  init(_ timeline: ProcedureTimeline, _ names: [String]) throws {
    let snapshot = timeline.snapshot()
    self.snapshot = snapshot
    entries = try names.map { name in
      guard let entry = snapshot.entry(named: name) else {
        throw TimelineError(
          description: "No procedure '\(name)' is in the timeline.\n" + snapshot.summary)
      }
      return entry
    }
  }

  /// Whether one was a dependency of the other, or of one of its dependencies, and so on.
  func leads(_ before: ProcedureTimeline.Entry, to after: ProcedureTimeline.Entry) -> Bool {
    let dependencies = Dictionary(
      uniqueKeysWithValues: snapshot.entries.map { ($0.id, $0.dependencies) })
    var (seen, unvisited) = (Set(after.dependencies), after.dependencies)
    while let id = unvisited.popLast(), id != before.id {
      unvisited += (dependencies[id] ?? []).filter { seen.insert($0).inserted }
    }
    return seen.contains(before.id)
  }

  func error(_ expectation: String) -> TimelineError {
    let times = entries.map { entry in
      func seconds(_ instant: ContinuousClock.Instant?) -> String {
        instant.map { "\(snapshot.time(of: $0))" } ?? "–"
      }
      return "  '\(entry.name)': started \(seconds(entry.started)), finished "
        + seconds(entry.finished)
    }
    return TimelineError(
      description: "It was expected that \(expectation):\n"
        + times.joined(separator: "\n") + "\n" + snapshot.summary)
  }
}

extension [String] {
  fileprivate var quoted: String { map { "'\($0)'" }.joined(separator: ", ") }
}

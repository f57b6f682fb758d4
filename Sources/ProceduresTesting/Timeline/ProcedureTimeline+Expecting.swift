public import ProceduresTimeline

/// The error for a timeline that differs from a test's expectation.
public struct TimelineError: Error, CustomStringConvertible {
  /// The expectation, the observation, and the summary of the timeline.
  public let description: String
}

/// Expectations about the order in which procedures ran.
extension ProcedureTimeline {
  /// Throws unless each of these procedures started after the previous one had finished.
  ///
  /// ```swift
  /// try timeline.expect(order: "fetch", "parse", "store")
  /// ```
  ///
  /// Work may take no virtual time: if two procedures took none at the same moment, only
  /// dependencies tell their order. Without dependencies it throws, and says so: read the
  /// simulation's `log` then.
  ///
  /// - Parameter names: the names of procedures. Of several with the same name it takes the first
  ///   that was enqueued.
  public func expect(order names: String...) throws {
    let found = try Expectation(self, names)
    for (before, after) in zip(found.entries, found.entries.dropFirst()) {
      let expectation = "'\(after.name)' was to start after '\(before.name)' had finished"
      guard let end = before.finished, let start = after.started ?? after.cancelled, end <= start
      else { throw found.error(expectation) }
      // Otherwise the opposite order would be just as true.
      guard end < start || after.finished != before.started || found.leads(before, to: after) else {
        throw found.error(
          "\(expectation), but both took no time at the same moment, and '\(after.name)' does not"
            + " depend on the other: the times cannot tell, the log of a simulation can")
      }
    }
  }

  /// Throws unless there was a moment at which all of these procedures ran, between start and
  /// finish.
  ///
  /// - Parameter names: the names of procedures, as in `expect(order:)`.
  public func expect(overlap names: String...) throws {
    let found = try Expectation(self, names)
    let start = found.entries.compactMap(\.started).max()
    let ends = found.entries.map(\.finished)
    let hasAllStarted = found.entries.allSatisfy { $0.started != nil }
    guard hasAllStarted, let start, ends.allSatisfy({ end in end.map { $0 > start } ?? true })
    else { throw found.error("these were to run at the same time: \(names.quoted)") }
  }

  /// Throws if two of these procedures ran at the same moment.
  ///
  /// - Parameter names: the names of procedures, as in `expect(order:)`.
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
  /// - Parameter names: the names of procedures.
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

/// The entries with the given names.
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

  /// Whether `before` was a direct or indirect dependency of `after`.
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

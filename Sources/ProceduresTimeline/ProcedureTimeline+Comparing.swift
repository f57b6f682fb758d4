internal import Procedures

extension ProcedureTimeline {
  /// The differences between two runs of a program.
  public struct Difference: Sendable, CustomStringConvertible {
    /// A duration in the earlier run and in this one.
    public struct Line: Sendable, Hashable {
      /// A cause of the critical path, such as `slot of queue 'build' (limit 2)`, or the name of
      /// procedures.
      public let name: String
      /// The duration in the earlier run; zero if it did not occur there.
      public let before: Duration
      /// The duration in this run; zero if it did not occur here.
      public let after: Duration

      /// The difference: negative if this run was shorter.
      public var change: Duration { after - before }
    }

    /// The duration of the whole run.
    public let whole: Line

    /// The shares of the critical path's time, the greatest change first.
    public let causes: [Line]

    /// The run times of procedures by name, summed, the greatest change first.
    public let names: [Line]

    /// A text for a terminal: the whole, and up to eight lines each for causes and names that
    /// changed by at least 1 % of it.
    public var description: String {
      func text(_ line: Line) -> String {
        let sign = line.change < .zero ? "-" : "+"
        return "\(sign)\(NumberText.time(abs(line.change.nanoseconds))) \(line.name.shown): "
          + "\(NumberText.time(line.before.nanoseconds)), now \(NumberText.time(line.after.nanoseconds))"
      }
      let least = max(whole.before, whole.after) / 100
      func list(_ title: String, _ lines: [Line]) -> [String] {
        let shown = lines.filter { abs($0.change.nanoseconds) >= max(least.nanoseconds, 1) }
        return shown.isEmpty ? [] : [title] + shown.prefix(8).map { "  " + text($0) }
      }
      return
        ([text(whole)] + list("Critical path, by cause", causes)
        + list("By name (sum over all procedures)", names)).joined(separator: "\n") + "\n"
    }
  }
}

extension ProcedureTimeline.Snapshot {
  /// Returns the differences from an earlier run: before a change, or on another machine.
  ///
  /// ```swift
  /// print(timeline.snapshot().difference(from: before))
  /// ```
  ///
  /// Procedures are compared by name, and the critical path by the causes of its time.
  public func difference(
    from before: ProcedureTimeline.Snapshot
  ) -> ProcedureTimeline.Difference {
    typealias Line = ProcedureTimeline.Difference.Line
    func lines(_ before: [(String, Duration)], _ after: [(String, Duration)]) -> [Line] {
      let old = Dictionary(before, uniquingKeysWith: +)
      let new = Dictionary(after, uniquingKeysWith: +)
      return Set(old.keys).union(new.keys).map {
        Line(name: $0, before: old[$0] ?? .zero, after: new[$0] ?? .zero)
      }.sorted {
        ($1.change.nanoseconds.magnitude, $0.name) < ($0.change.nanoseconds.magnitude, $1.name)
      }
    }
    return ProcedureTimeline.Difference(
      whole: Line(name: "whole", before: before.duration, after: duration),
      causes: lines(
        before.criticalPathShares.map { ($0.label, $0.total) },
        criticalPathShares.map { ($0.label, $0.total) }),
      names: lines(before.byName.map { ($0.name, $0.sum) }, byName.map { ($0.name, $0.sum) }))
  }
}

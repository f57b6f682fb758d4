internal import Procedures

extension ProcedureTimeline {
  /// The differences between two runs of a program.
  public struct Difference: Sendable, CustomStringConvertible {
    /// How long something took, in the run before and in this one.
    public struct Line: Sendable, Hashable {
      /// A cause of the critical path, such as `slot of queue 'build' (limit 2)`, or the name of procedures.
      public let name: String
      /// In the run before: zero if there was nothing of it.
      public let before: Duration
      /// In this run: zero if there was nothing of it.
      public let after: Duration

      /// How much longer it took; negative if it was shorter.
      public var change: Duration { after - before }
    }

    /// How long the whole took.
    public let whole: Line

    /// The shares of the critical path's time, the greatest change first.
    public let causes: [Line]

    /// How long procedures of each name ran together, the greatest change first.
    public let names: [Line]

    /// For a terminal: the whole, and up to eight lines each of what changed by at least 1 % of it.
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
  /// The differences from a run before: after a change, or on another machine.
  ///
  /// ```swift
  /// print(timeline.snapshot().difference(from: before))
  /// ```
  ///
  /// Procedures are compared by name, and the critical path by what its time went to.
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

/// A run beside a stored one, row by row.
struct Comparison {
  struct Line {
    let name: RowName
    let now: Double
    let then: Double
    /// What the two runs' spreads, and the difference of their machines' speed, may explain.
    let noise: Double

    var ratio: Double { now / then }

    /// Only what is beyond noise is marked.
    var mark: String? {
      if ratio > 1 + noise { return "MORE" }
      if ratio < 1 / (1 + noise) { return "less" }
      return nil
    }
  }

  let lines: [Line]
  let heading: [String]
  let closing: [String]

  /// Less than this is never marked.
  static let leastNoise = 0.05

  init(_ now: Report, with then: Report) {
    let stored = Dictionary(then.rows.map { ($0.name, $0) }) { first, _ in first }
    let loops = Dictionary(then.contests.map { ($0.name, $0.referenceLoop.median) }) { $1 }
    lines = now.contests.flatMap { contest -> [Line] in
      // Another speed of the processor explains as much of a difference of times.
      let speed = loops[contest.name].map { contest.referenceLoop.median / $0 } ?? 1
      return contest.rows.compactMap { row in
        guard let other = stored[row.name] else { return nil }
        let drift = row.unit == .bytes ? 0 : max(speed, 1 / speed) - 1
        return Line(
          name: row.name, now: row.summary.median, then: other.summary.median,
          noise: max(Self.leastNoise, row.summary.spread + other.summary.spread + drift))
      }
    }
    var heading = [
      "compared with commit \(then.commit ?? "unknown") on \(then.machine.text)"
    ]
    if then.machine != now.machine {
      heading.append("the machines differ: compare the ratios within each run instead")
    }
    if now.isQuick || then.isQuick {
      heading.append("one of the runs was a quick one: not to be judged by")
    }
    self.heading = heading
    let missing = now.rows.count - lines.count
    let marked = lines.count { $0.mark != nil }
    closing =
      ["\(marked) of \(lines.count) rows differ beyond noise"]
      + (missing > 0 ? ["\(missing) rows are not in the stored run"] : [])
  }
}

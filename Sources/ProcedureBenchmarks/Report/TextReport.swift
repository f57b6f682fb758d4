/// The report for people at a terminal.
struct TextReport: ReportFormat {
  func heading(_ report: Report) -> String {
    """
    \(report.machine.text)
    commit \(report.commit ?? "unknown")\(report.isQuick ? "; a quick run, not to be judged by" : "")

    """
  }

  func section(_ contest: ContestReport) -> String {
    let width = contest.rows.map { $0.name.text.count }.max() ?? 0
    var lines = ["", "\(contest.name): \(contest.title)"]
    lines.append(
      line("", width, ["median", "min", "spread", "ratio"], remarks: []))
    for row in contest.rows {
      let summary = row.summary
      lines.append(
        line(
          row.name.text, width,
          [
            summary.median.short, summary.minimum.short, summary.spread.percent,
            row.ratio.fixed(2),
          ],
          remarks: row.remarks))
    }
    if let remark = contest.remark { lines.append("  \(remark)") }
    return lines.joined(separator: "\n") + "\n"
  }

  func closing(_ report: Report) -> String {
    var lines = ["", report.machineRemark]
    guard !report.costs.isEmpty else { return lines.joined(separator: "\n") + "\n" }
    lines += ["", "cost table"]
    let width = report.costs.map(\.what.count).max() ?? 0
    lines.append(line("", width, ["found", "quartiles", "ceiling", "aim"], columns: costColumns))
    for cost in report.costs {
      lines.append(
        line(
          cost.what, width,
          [cost.found, cost.quartiles, cost.unit.text(cost.ceiling), cost.aimText],
          columns: costColumns, remarks: [cost.verdictText]))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  func comparison(_ comparison: Comparison) -> String {
    let width = comparison.lines.map { $0.name.full.count }.max() ?? 0
    var lines = [""] + comparison.heading
    lines.append(line("", width, ["now", "then", "ratio", ""], remarks: []))
    for change in comparison.lines {
      lines.append(
        line(
          change.name.full, width,
          [change.now.short, change.then.short, change.ratio.fixed(2), ""],
          remarks: change.mark.map { [$0] } ?? []))
    }
    return (lines + comparison.closing).joined(separator: "\n") + "\n"
  }

  private let costColumns = [12, 20, 11, 11]

  private func line(
    _ name: String, _ width: Int, _ cells: [String], columns: [Int] = [10, 10, 7, 9],
    remarks: [String] = []
  ) -> String {
    var text = "  " + name.padded(to: width)
    for (cell, column) in zip(cells, columns) { text += cell.padded(from: column) }
    if !remarks.isEmpty { text += "  " + remarks.joined(separator: "; ") }
    return text
  }
}

/// The report as Markdown tables, for the documentation.
struct MarkdownReport: ReportFormat {
  func heading(_ report: Report) -> String {
    let quick = report.isQuick ? " A quick run, not to be judged by." : ""
    return "Machine: \(report.machine.text). Commit: \(report.commit ?? "unknown").\(quick)\n"
  }

  func section(_ contest: ContestReport) -> String {
    var lines = [
      "", "### \(contest.name)", "", "\(contest.title)", "",
      "| | median | min | spread | ratio | |", "|---|--:|--:|--:|--:|---|",
    ]
    for row in contest.rows {
      let summary = row.summary
      lines.append(
        line([
          row.name.text, summary.median.short, summary.minimum.short, summary.spread.percent,
          row.ratio.fixed(2), row.remarks.joined(separator: "; "),
        ]))
    }
    if let remark = contest.remark { lines += ["", remark] }
    return lines.joined(separator: "\n") + "\n"
  }

  func closing(_ report: Report) -> String {
    var lines = ["", report.machineRemark]
    guard !report.costs.isEmpty else { return lines.joined(separator: "\n") + "\n" }
    lines += [
      "", "### Cost table", "",
      "| what, per item | found | quartiles | ceiling | aim | |", "|---|--:|--:|--:|--:|---|",
    ]
    for cost in report.costs {
      lines.append(
        line([
          cost.what, cost.found, cost.quartiles, cost.unit.text(cost.ceiling), cost.aimText,
          cost.verdictText,
        ]))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  func comparison(_ comparison: Comparison) -> String {
    var lines = ["", "### Comparison", ""] + comparison.heading
    lines += ["", "| | now | then | ratio | |", "|---|--:|--:|--:|---|"]
    for change in comparison.lines {
      lines.append(
        line([
          change.name.full, change.now.short, change.then.short, change.ratio.fixed(2),
          change.mark ?? "",
        ]))
    }
    return (lines + [""] + comparison.closing).joined(separator: "\n") + "\n"
  }

  private func line(_ cells: [String]) -> String {
    "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
  }
}

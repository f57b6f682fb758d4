import Foundation

/// How `--scale` prints what it found.
struct ScaleReport {
  let format: ReportFormat
  /// The cores of the machine.
  let cores: Int
  /// Whether the rows have counts of waits and failed compare-exchanges.
  let isCounted: Bool

  init(
    _ format: ReportFormat, cores: Int = ProcessInfo.processInfo.activeProcessorCount,
    isCounted: Bool = ContentionCount.isKnown
  ) {
    (self.format, self.cores, self.isCounted) = (format, cores, isCounted)
  }

  /// The text before the first table.
  func heading(threads: [Int]) -> String? {
    guard format != .json else { return nil }
    return ([Machine.text + "."] + note(on: threads)).joined(separator: "\n\n")
  }

  /// A note if there are more threads than cores.
  private func note(on threads: [Int]) -> [String] {
    guard let most = threads.max(), most > cores else { return [] }
    return [
      """
      There are \(cores) cores and up to \(most) threads. Beyond \(cores) threads, growth cannot exceed
      what \(cores) cores do: it says only what contention costs.
      """
    ]
  }

  /// The table of one contest; nil for JSON, which comes at the end.
  func table(_ contest: ScaleContest, _ rows: [ScaleRow]) -> String? {
    guard format != .json else { return nil }
    let first = rows.first?.threads ?? 1
    var titles = [
      "threads", "side", "items/s", "CPU/item", "switches/1,000",
      "÷ \(first) thread\(first == 1 ? "" : "s")", "ours ÷ its items/s", "ours ÷ its CPU",
    ]
    if isCounted { titles += ["waits/1,000", "failed/1,000"] }
    let lines = [titles] + rows.map { cells($0) }
    switch format {
    case .markdown:
      let rule = "|" + titles.indices.map { $0 == 1 ? "---|" : "--:|" }.joined()
      let table = lines.map(ReportFormat.markdownRow)
      return (["\n\(contest.name): \(contest.item)\n", table[0], rule] + table.dropFirst())
        .joined(separator: "\n")
    default:
      let widths = titles.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
      return (["\n\(contest.name): \(contest.item)"] + lines.map { pad($0, widths) })
        .joined(separator: "\n")
    }
  }

  private func cells(_ row: ScaleRow) -> [String] {
    var cells = [
      "\(row.threads)", row.side, row.throughput.short, "\(row.processorTime.short) ns",
      (row.switches * 1_000).short, row.growth.short, row.throughputRatio?.short ?? "",
      row.processorTimeRatio?.short ?? "",
    ]
    if isCounted { cells += [row.waits?.short ?? "", row.failures?.short ?? ""] }
    return cells
  }

  /// Numbers to the right, the name of the side to the left.
  private func pad(_ cells: [String], _ widths: [Int]) -> String {
    let padded = cells.indices.map { column in
      let space = String(repeating: " ", count: widths[column] - cells[column].count)
      return column == 1 ? cells[column] + space : space + cells[column]
    }
    return "  " + padded.joined(separator: "  ")
  }
}

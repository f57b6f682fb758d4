import Foundation

enum ReportFormat: Equatable {
  case text
  case markdown
  case json

  /// The text before the first row.
  var heading: String {
    switch self {
    case .text: "\(Machine.text)\n"
    case .markdown:
      """
      Machine: \(Machine.text).

      | contest | ours | | theirs | | found | quartiles | CPU | at most | aim | |
      |---|---|--:|---|--:|--:|--:|--:|--:|--:|---|
      """
    case .json: ""
    }
  }

  /// The text of one row, printed as soon as the row is known.
  func line(_ row: Row) -> String? {
    switch self {
    case .text:
      """
      \(row.name): \(row.text(row.median)) (\(row.quartiles))\(processorTime(of: row))\(promise(of: row))
        \(row.ours.name) \(row.text(row.ours)), \(row.theirs.name) \(row.text(row.theirs))
      """
    case .markdown:
      Self.markdownRow([
        row.name, row.ours.name, row.text(row.ours), row.theirs.name, row.text(row.theirs),
        row.text(row.median), row.quartiles, row.processorTime.map { "\($0.short) ×" } ?? "",
        row.ceiling.map(row.text) ?? "",
        row.aim.map(row.text) ?? "", row.verdict.rawValue,
      ])
    case .json: nil
    }
  }

  static func markdownRow(_ cells: [String]) -> String {
    "| " + cells.joined(separator: " | ") + " |"
  }

  /// The text after the last row.
  func closing(_ rows: [some Encodable]) -> String? {
    guard self == .json else { return nil }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return (try? encoder.encode(rows)).map { String(decoding: $0, as: UTF8.self) }
  }

  private func processorTime(of row: Row) -> String {
    row.processorTime.map { ", CPU \($0.short) ×" } ?? ""
  }

  private func promise(of row: Row) -> String {
    guard let ceiling = row.ceiling else { return "" }
    let aim = row.aim.map { ", aim \(row.text($0))" } ?? ""
    return ", at most \(row.text(ceiling))\(aim): \(row.verdict.rawValue)"
  }
}

/// The machine on which the figures were measured.
enum Machine {
  /// For example `2 cores of Xeon, x86_64, Ubuntu 24.04`.
  static var text: String {
    let info = ProcessInfo.processInfo
    let processor = processorName.map { " of \($0)" } ?? ""
    return "\(info.activeProcessorCount) cores\(processor), \(info.operatingSystemVersionString)"
  }

  /// The name that Linux has in /proc/cpuinfo; nil elsewhere.
  private static var processorName: String? {
    let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix("model name") }
    return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
  }
}

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reports about a run for other programs.
struct RunReport {
  private let entries: [RunRecord.Entry]
  private let status: Int32
  private let startDate: Date
  private let duration: Duration

  private let analysis: RunAnalysis

  init(
    _ entries: [RunRecord.Entry], _ analysis: RunAnalysis, status: Int32, _ record: RunRecord
  ) {
    self.entries = entries
    self.analysis = analysis
    self.status = status
    startDate = record.startDate
    duration = .now - record.start
  }

  /// Writes the reports of the options, and returns a sentence for each failure.
  func write(for options: Options) -> [String] {
    [(options.reportPath, \Self.json), (options.junitPath, \Self.junit)].compactMap { path, text in
      guard let path else { return nil }
      return OutputFile.write(self[keyPath: text], to: path).map {
        "the report '\(path)' cannot be written: \($0)"
      }
    }
  }

  /// An object for the run, with a list `steps`.
  var json: String {
    let steps = entries.map { entry in
      "    "
        + JSONText.object([
          ("name", JSONText.string(entry.name.text)),
          ("group", (entry.group?.text).map(JSONText.string)),
          ("outcome", JSONText.string(entry.outcome.word)),
          ("reason", entry.outcome.reason.map(JSONText.string)),
          ("start", entry.start.map(JSONText.seconds)),
          ("duration", entry.duration.map(JSONText.seconds)),
          ("attempts", "\(entry.attempts)"),
        ])
    }
    return JSONText.object(
      [
        ("started", JSONText.string(startDate.formatted(.iso8601))),
        ("duration", JSONText.seconds(duration)),
        ("status", "\(status)"),
        ("jobs", "\(analysis.slots)"),
        ("jobsInUse", RunAnalysis.tenths(analysis.usedSlots)),
        ("criticalPath", "[\(criticalPath)]"),
        ("steps", "[\n\(steps.joined(separator: ",\n"))\n  ]"),
      ], separator: ",\n  ") + "\n"
  }

  private var criticalPath: String {
    analysis.criticalPath.map { link in
      JSONText.object([
        ("name", JSONText.string(link.name.text)), ("wait", JSONText.seconds(link.wait)),
        ("duration", JSONText.seconds(link.duration)),
      ])
    }.joined(separator: ", ")
  }

  /// The format of build servers: a test case for each step.
  var junit: String {
    let failures = entries.count { $0.outcome.isFailure }
    let skipped = entries.count { !$0.outcome.isFailure && $0.outcome != .succeeded }
    let cases = entries.map { entry in
      let attributes =
        "name=\"\(Self.escaped(entry.name.text))\" "
        + "classname=\"\(Self.escaped(entry.group?.text ?? "runbook"))\" "
        + "time=\"\(JSONText.seconds(entry.duration ?? .zero))\""
      let tries =
        entry.attempts > 1
        ? "<properties><property name=\"attempts\" value=\"\(entry.attempts)\"/></properties>" : ""
      guard entry.outcome != .succeeded else {
        return tries.isEmpty
          ? "  <testcase \(attributes)/>" : "  <testcase \(attributes)>\(tries)</testcase>"
      }
      let text = Self.escaped(entry.outcome.text)
      guard entry.outcome.isFailure else {
        return "  <testcase \(attributes)><skipped message=\"\(text)\"/></testcase>"
      }
      let output = entry.lastOutput.map(Self.escaped).joined(separator: "\n")
      return
        "  <testcase \(attributes)>\(tries)<failure message=\"\(text)\">\(output)</failure></testcase>"
    }
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuite name="runbook" tests="\(entries.count)" failures="\(failures)" \
      skipped="\(skipped)" time="\(JSONText.seconds(duration))">
      \(cases.joined(separator: "\n"))
      </testsuite>

      """
  }

  /// XML cannot contain control characters, not even escaped.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.visible.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

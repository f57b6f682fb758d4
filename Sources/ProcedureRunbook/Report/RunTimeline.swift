import ProceduresTimeline

/// Shows people where the time of a run went: a trace for Perfetto, and a page.
struct RunTimeline {
  private let timeline: ProcedureTimeline.Snapshot

  init(_ timeline: ProcedureTimeline.Snapshot) {
    self.timeline = timeline
  }

  /// Writes the files of the options, and returns a sentence for each failure.
  func write(for options: Options) -> [String] {
    var problems: [String] = []
    if let path = options.tracePath, let reason = OutputFile.write(timeline.chromeTrace(), to: path)
    {
      problems.append("the trace '\(path)' cannot be written: \(reason)")
    }
    if let path = options.pagePath {
      let page = timeline.html(title: options.planPath ?? "runbook")
      if let reason = OutputFile.write(page, to: path) {
        problems.append("the page '\(path)' cannot be written: \(reason)")
      }
    }
    return problems
  }
}

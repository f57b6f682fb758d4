import ProceduresTimeline

/// Shows people where the time of a run went: a trace for Perfetto, and a page.
struct RunTimeline {
  private let timeline: ProcedureTimeline.Snapshot
  private let secrets: Secrets

  /// - Parameter secrets: the values that its errors must not show.
  init(_ timeline: ProcedureTimeline.Snapshot, _ secrets: Secrets) {
    (self.timeline, self.secrets) = (timeline, secrets)
  }

  /// Writes the files of the options, and returns a sentence for each failure.
  func write(for options: Options) -> [String] {
    var problems: [String] = []
    if let path = options.tracePath {
      let trace = secrets.hiding(timeline.chromeTrace())
      if let reason = OutputFile.write(trace, to: path) {
        problems.append("the trace '\(path)' cannot be written: \(reason)")
      }
    }
    if let path = options.pagePath {
      let page = secrets.hiding(timeline.html(title: options.planPath ?? "runbook"))
      if let reason = OutputFile.write(page, to: path) {
        problems.append("the page '\(path)' cannot be written: \(reason)")
      }
    }
    return problems
  }
}

internal import Foundation

/// The command `benchmarks`: what things cost beside what else does them.
@main
struct Benchmarks {
  static func main() async {
    do throws(UsageError) {
      try await run(try Options(Array(CommandLine.arguments.dropFirst())))
    } catch {
      try? FileHandle.standardError.write(contentsOf: Data("benchmarks: \(error)\n".utf8))
      exit(2)
    }
  }

  private static func run(_ options: Options) async throws(UsageError) {
    if options.isHelp {
      put(Help.text + "\n")
      return
    }
    if let name = options.worker {
      put(try await Worker.work(on: name, options))
      return
    }
    let contests = try chosen(options)
    if options.isList {
      put(contests.map { $0.name + "\n" }.joined())
      return
    }
    // Bad files are to be found before the minutes are spent.
    let stored = try options.comparePath.map { path throws(UsageError) in
      try ReportFile.read(atPath: path)
    }
    for path in [options.jsonPath, options.plotPath].compactMap({ $0 }) {
      try ReportFile.checkWritable(path)
    }
    let (report, results) = try measure(contests, options)
    if let stored { put(format(options).comparison(Comparison(report, with: stored))) }
    if let path = options.jsonPath { try ReportFile.write(report, toPath: path) }
    if let path = options.plotPath {
      try ReportFile.write(Plot(results).svg, toPath: path)
    }
  }

  private static func chosen(_ options: Options) throws(UsageError) -> [Contest] {
    let filter = options.filter ?? ""
    let contests = Contest.all.filter { filter.isEmpty || $0.name.contains(filter) }
    if contests.isEmpty {
      throw UsageError("no case has '\(filter)' in its name; '--list' prints the names")
    }
    if options.plotPath != nil, !contests.contains(where: \.isPlotted) {
      throw UsageError("'--plot' needs the cases that begin with 'scale'; change the filter")
    }
    return contests
  }

  /// Prints each contest as soon as it is decided.
  private static func measure(
    _ contests: [Contest], _ options: Options
  ) throws(UsageError) -> (Report, [ContestResult]) {
    let format = format(options)
    var report = Report(
      machine: .current, commit: options.commit ?? Commit.current, isQuick: options.isQuick)
    var results: [ContestResult] = []
    #if DEBUG
      put("This is a debug build, whose figures say nothing: use 'swift run -c release'.\n")
    #endif
    put(format.heading(report))
    for contest in contests {
      let result = try Worker.run(contest, options)
      results.append(result)
      report.contests.append(ContestReport(result))
      put(format.section(ContestReport(result)))
    }
    report.costs = Ceiling.all.compactMap { Cost($0, in: results) }
    put(format.closing(report))
    return (report, results)
  }

  private static func format(_ options: Options) -> any ReportFormat {
    options.isMarkdown ? MarkdownReport() : TextReport()
  }

  /// Without a buffer, so that a long run can be followed through a pipe too.
  private static func put(_ text: String) { put(Data(text.utf8)) }

  private static func put(_ data: Data) {
    try? FileHandle.standardOutput.write(contentsOf: data)
  }
}

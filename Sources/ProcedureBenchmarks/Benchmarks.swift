import Foundation

/// The command `benchmarks`: compares the costs of this package with those of the alternatives.
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
    if options.isHelp { return put(Options.help) }
    if options.isScale { return try runScale(options) }
    let contests = try included(Contest.all, options) { $0.name }
    if options.isList { return put(contests.map(\.name).joined(separator: "\n")) }
    warnOfDebugBuild()
    if !options.format.heading.isEmpty { put(options.format.heading) }
    var rows: [Row] = []
    for contest in contests {
      let row = Row(await contest.run(rounds: options.rounds, divisor: options.divisor))
      rows.append(row)
      // Each row is printed as soon as it is known, so that a long run can be followed.
      if let line = options.format.line(row) { put(line) }
    }
    if let text = options.format.closing(rows) { put(text) }
  }

  private static func runScale(_ options: Options) throws(UsageError) {
    let contests = try included(ScaleContest.all, options) { $0.name }
    if options.isList { return put(contests.map(\.name).joined(separator: "\n")) }
    warnOfDebugBuild()
    let report = ScaleReport(options.format)
    if let text = report.heading(threads: options.threads) { put(text) }
    var rows: [ScaleRow] = []
    for contest in contests {
      let new = contest.run(
        threads: options.threads, rounds: options.rounds, divisor: options.divisor)
      rows += new
      if let table = report.table(contest, new) { put(table) }
    }
    if let text = options.format.closing(rows) { put(text) }
  }

  /// The contests that the filter includes.
  private static func included<Item>(
    _ all: [Item], _ options: Options, _ name: (Item) -> String
  ) throws(UsageError) -> [Item] {
    let contests = all.filter { options.includes(name($0)) }
    guard !contests.isEmpty else {
      let list = options.isScale ? "--scale --list" : "--list"
      throw UsageError(
        "no contest has '\(options.filter ?? "")' in its name; '\(list)' prints the names")
    }
    return contests
  }

  private static func warnOfDebugBuild() {
    #if DEBUG
      note("this is a debug build, whose figures say nothing: use 'swift run -c release'")
    #endif
  }

  /// Writes without a buffer, so that a long run can be followed through a pipe too.
  private static func put(_ text: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
  }

  private static func note(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data("benchmarks: \(text)\n".utf8))
  }
}

extension Contest {
  /// Every contest, in the order in which they run: contests with a large heap come last.
  static let all: [Contest] =
    [noOperation, noOperationBesideTask, noOperationBesideOperation]
    + [link, injected, child, group, sequence, exclusive, observed]
    + [asynchronous, cancelled, latency]
    + [tokenPoll, procedurePoll, token, registration, delay, deadline]
    + (LiveBytes.isKnown ? bytes : []) + growth
}

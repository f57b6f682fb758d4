struct Options: Equatable {
  /// Only contests whose names contain it; nil for all.
  var filter: String?
  /// The number of rounds that was asked for; nil for the usual one.
  var givenRounds: Int?
  /// The number of items is divided by this.
  var divisor = 1
  var format = ReportFormat.text
  /// Whether several threads do the work of `ScaleContest.all`, instead of one that of
  /// `Contest.all`.
  var isScale = false
  /// The numbers of threads, in increasing order; nil for the usual ones.
  var givenThreads: [Int]?
  var isList = false
  var isHelp = false

  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      switch (parts.first ?? "", parts.dropFirst().first.map(String.init)) {
      case ("--rounds", let text):
        let text = text ?? rest.popFirst() ?? ""
        guard let number = Int(text), number > 0 else {
          throw UsageError("'--rounds' needs a whole number above 0, not '\(text)'")
        }
        givenRounds = number
      case ("--threads", let text):
        givenThreads = try Self.threads(text ?? rest.popFirst() ?? "")
      case ("--only", let text):
        let text = text ?? rest.popFirst() ?? ""
        guard !text.isEmpty else { throw UsageError("'--only' needs a part of a contest's name") }
        try setFilter(text)
      case ("--scale", nil): isScale = true
      case ("--quick", nil): (givenRounds, divisor) = (3, 10)
      case ("--markdown", nil): format = .markdown
      case ("--json", nil): format = .json
      case ("--list", nil): isList = true
      case ("--help", nil), ("-h", nil): isHelp = true
      case _ where argument.hasPrefix("-"):
        throw UsageError("there is no option '\(argument)'; see 'benchmarks --help'")
      default:
        try setFilter(argument)
      }
    }
    if givenThreads != nil, !isScale { throw UsageError("'--threads' needs '--scale'") }
  }

  private mutating func setFilter(_ text: String) throws(UsageError) {
    if let filter { throw UsageError("give one filter: '\(filter)' or '\(text)'") }
    filter = text
  }

  /// Reads a list such as `1,2,4`.
  private static func threads(_ text: String) throws(UsageError) -> [Int] {
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard numbers.allSatisfy((1...mostThreads).contains) else {
      throw UsageError(
        "'--threads' needs whole numbers from 1 to \(mostThreads), as in '1,2,4', not '\(text)'")
    }
    return Set(numbers).sorted()
  }

  private static let mostThreads = 1_024

  var rounds: Int { givenRounds ?? (isScale ? 5 : 15) }
  var threads: [Int] { givenThreads ?? [1, 2, 4, 8, 16] }

  func includes(_ name: String) -> Bool { filter.map(name.contains) ?? true }
}

/// A wrong command line, described in one sentence.
struct UsageError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

extension Options {
  static let help = """
    Prints what things cost beside what else does them, measured in one run.

    Usage: swift run -c release benchmarks [filter] [options]
           swift run -c release benchmarks --scale [filter] [options]

    The filter is a part of the name of a contest, as in 'no-op' or 'growth'.

    Options:
          --scale      compare what 1 to 16 threads do, instead of what one does
          --threads N  the numbers of threads for --scale (default: 1,2,4,8,16)
          --only NAME  the filter, as an option
          --list       print the names of the contests, and run nothing
          --rounds N   begin with N rounds for each contest (default: 15; long ones 6, --scale 5)
          --quick      3 rounds with a tenth of the items, to try things out
          --markdown   print a Markdown table
          --json       print JSON
      -h, --help       print this

    A contest has two sides. In each round both do their work, one right after the other, the
    first of them in turn: what slows a round slows both. What counts is the ratio of the two
    times of one round. Printed are the median of the rounds' ratios and, in parentheses, the
    quartiles; then the ratio of the processor times, of all threads. Live bytes are no ratio: they
    are the same everywhere. Before the rounds each side does its work once and every item of it
    counts itself: if one is missing, the program stops.

    Where a contest says what a thing may cost at most, the rounds vote. The vote is clear when
    chance would give one as clear in fewer than one of 20 runs. One that is not goes on, to three
    times as many rounds; if it is not clear then, it is too noisy to decide.

    With --scale the threads begin at the same moment, and share the items. A table has for each
    side and number of threads the items a second of all threads, the processor time and the
    switches of threads for the items, the growth (items a second, divided by those with the first
    number of threads), and ours divided by the other side's: above 1 we do more items, below 1 we
    use less processor time. A build with '-Xswiftc -DCONTENTION' also counts, for 1,000 items of a
    side that uses locks of this package, how often a lock had to be waited for and how often a
    compare-exchange of added procedures failed.

    Exit status: 0, whatever the figures are; 2 for a bad command line.
    """
}

struct Options: Equatable {
  /// Only contests whose names contain it; nil for all.
  var filter: String?
  var rounds = 15
  /// The number of items is divided by this.
  var divisor = 1
  var format = ReportFormat.text
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
        rounds = number
      case ("--quick", nil): (rounds, divisor) = (3, 10)
      case ("--markdown", nil): format = .markdown
      case ("--json", nil): format = .json
      case ("--list", nil): isList = true
      case ("--help", nil), ("-h", nil): isHelp = true
      case _ where argument.hasPrefix("-"):
        throw UsageError("there is no option '\(argument)'; see 'benchmarks --help'")
      default:
        if let filter { throw UsageError("give one filter: '\(filter)' or '\(argument)'") }
        filter = argument
      }
    }
  }

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

    The filter is a part of the name of a contest, as in 'no-op' or 'growth'.

    Options:
          --list       print the names of the contests, and run nothing
          --rounds N   begin with N rounds for each contest (default: 15; long ones 6)
          --quick      3 rounds with a tenth of the items, to try things out
          --markdown   print a Markdown table
          --json       print JSON
      -h, --help       print this

    A contest has two sides. In each round both do their work, one right after the other, the
    first of them in turn: what slows a round slows both. What counts is the ratio of the two
    times of one round. Printed are the median of the rounds' ratios and, in parentheses, the
    quartiles. Live bytes are no ratio: they are the same everywhere. Before the rounds each side
    does its work once and every item of it counts itself: if one is missing, the program stops.

    Where a contest says what a thing may cost at most, the rounds vote. The vote is clear when
    chance would give one as clear in fewer than one of 20 runs. One that is not goes on, to three
    times as many rounds; if it is not clear then, it is too noisy to decide.

    Exit status: 0, whatever the figures are; 2 for a bad command line.
    """
}

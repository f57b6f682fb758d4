/// What the command line asks for.
struct Options: Equatable {
  /// Only contests whose names contain it; nil for all.
  var filter: String?
  var rounds = 9
  var jsonPath: String?
  var comparePath: String?
  var plotPath: String?
  /// What to write down as the commit; nil: ask git.
  var commit: String?
  /// In the process that runs one case for the command: its name. Not for users.
  var worker: String?
  var isMarkdown = false
  var isQuick = false
  var isList = false
  var isHelp = false

  /// How many items an entry does is divided by this.
  var divisor: Int { isQuick ? 10 : 1 }

  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    var seen: Set<String> = []
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("-") else {
        guard filter == nil else {
          throw UsageError(
            "give one filter: '\(filter ?? "")' or '\(argument)'; put quotes around one with spaces"
          )
        }
        filter = argument
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let option = String(parts[0])
      guard seen.insert(option).inserted else { throw UsageError("'\(option)' is given twice") }
      /// What stands after the option, or after its equals sign.
      func value(_ description: String) throws(UsageError) -> String {
        let value = parts.count > 1 ? String(parts[1]) : rest.popFirst() ?? ""
        guard !value.isEmpty, !value.hasPrefix("--") else {
          throw UsageError(
            "'\(option)' needs \(description), as in '\(option) \(Self.example(option))'")
        }
        return value
      }
      switch option {
      case "--json": jsonPath = try value("a file to write")
      case "--compare": comparePath = try value("a file that --json has written")
      case "--plot": plotPath = try value("a file to write")
      case "--commit": commit = try value("a name")
      case "--worker": worker = try value("the name of a case")
      case "--rounds":
        let text = try value("a whole number above 0")
        guard let number = Int(text), number > 0 else {
          throw UsageError("'--rounds' needs a whole number above 0, not '\(text)'")
        }
        rounds = number
      case _ where parts.count > 1:
        throw UsageError("'\(option)' takes no value, or is unknown; see 'benchmarks --help'")
      case "--markdown": isMarkdown = true
      case "--quick": isQuick = true
      case "--list": isList = true
      case "--help", "-h": isHelp = true
      default: throw UsageError("there is no option '\(option)'; see 'benchmarks --help'")
      }
    }
    if isQuick {
      guard !seen.contains("--rounds") else {
        throw UsageError("'--quick' chooses the rounds itself; leave '--rounds' or '--quick' out")
      }
      rounds = 3
    }
  }

  private static func example(_ option: String) -> String {
    switch option {
    case "--plot": "costs.svg"
    case "--commit": "1.2.0"
    case "--rounds": "21"
    default: "run.json"
    }
  }
}

import Foundation

/// What the command line asks for.
struct Options: Equatable {
  /// nil: the built-in plan.
  var planPath: String?
  var jobs = max(1, ProcessInfo.processInfo.activeProcessorCount)
  /// For the whole run.
  var timeout: Duration?
  /// Between SIGTERM and SIGKILL.
  var gracePeriod = Duration.seconds(3)
  var keepGoing = false
  var isDryRun = false
  var isGraph = false
  var isQuiet = false
  var isHelp = false

  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    var onlyPaths = false
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("-"), argument != "-", !onlyPaths else {
        guard planPath == nil else { throw UsageError("give one plan, not '\(argument)' as well") }
        planPath = argument
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      var value: String? {
        argument.contains("=") ? (parts.count > 1 ? parts[1] : "") : rest.popFirst()
      }
      switch parts[0] {
      case "--jobs", "-j":
        guard let text = value, let number = Int(text), number > 0 else {
          throw UsageError("'--jobs' needs a whole number above 0")
        }
        jobs = number
      case "--timeout":
        timeout = try Self.seconds(value, of: "--timeout")
      case "--grace":
        gracePeriod = try Self.seconds(value, of: "--grace")
      case _ where argument.contains("=") && argument != "--":
        throw UsageError("'\(parts[0])' takes no value, or is unknown; see 'runbook --help'")
      case "--keep-going", "-k": keepGoing = true
      case "--dry-run", "-n": isDryRun = true
      case "--graph": isGraph = true
      case "--quiet", "-q": isQuiet = true
      case "--help", "-h": isHelp = true
      case "--": onlyPaths = true
      default: throw UsageError("there is no option '\(argument)'; see 'runbook --help'")
      }
    }
  }

  private static func seconds(_ text: String?, of option: String) throws(UsageError) -> Duration {
    guard let text, let seconds = Double(text), seconds > 0, seconds <= 1e9 else {
      throw UsageError("'\(option)' needs a number of seconds above 0")
    }
    return .seconds(seconds)
  }
}

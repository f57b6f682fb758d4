import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Standard output, and what it can do.
struct Terminal: Sendable {
  /// Whether lines can be drawn over.
  let isLive: Bool
  let hasColours: Bool

  init(environment: [String: String] = ProcessInfo.processInfo.environment) {
    isLive = isatty(STDOUT_FILENO) == 1 && environment["TERM", default: "dumb"] != "dumb"
    hasColours = isLive && environment["NO_COLOR", default: ""].isEmpty
  }

  var size: (width: Int, height: Int) {
    var size = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return (80, 24)
    }
    return (Int(size.ws_col), max(4, Int(size.ws_row)))
  }

  /// A reader that went away is not an error: the plan goes on.
  func write(_ text: String) {
    guard !text.isEmpty else { return }
    try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
  }
}

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What standard output can do.
struct Terminal: Sendable {
  /// Whether lines can be drawn over.
  let isLive: Bool
  let hasColours: Bool

  init(isLive: Bool, hasColours: Bool) {
    (self.isLive, self.hasColours) = (isLive, hasColours)
  }

  /// By what the descriptor is and what the environment says of it.
  init() {
    isLive = isatty(STDOUT_FILENO) == 1 && Self.variable("TERM", default: "dumb") != "dumb"
    hasColours = isLive && Self.variable("NO_COLOR", default: "").isEmpty
  }

  private static func variable(_ name: String, default value: String) -> String {
    guard let text = unsafe getenv(name) else { return value }
    return unsafe String(cString: text)
  }

  /// Whether there is someone to read from: standard input is a terminal.
  static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 }

  /// Asked anew for each drawing: a window changes its size.
  var size: (width: Int, height: Int) {
    var size = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return (80, 24)
    }
    return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
  }
}

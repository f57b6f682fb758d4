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

  /// Whether output has colours, as the command line says.
  enum Colour: String, CaseIterable {
    case always
    case automatic = "auto"
    case never
  }

  init(isLive: Bool, hasColours: Bool) {
    (self.isLive, self.hasColours) = (isLive, hasColours)
  }

  /// By what the descriptor is and what the environment says of it.
  init(_ colour: Colour = .automatic) {
    isLive = isatty(STDOUT_FILENO) == 1 && Self.variable("TERM", default: "dumb") != "dumb"
    hasColours =
      switch colour {
      case .always: true
      case .never: false
      case .automatic:
        Self.variable("NO_COLOR", default: "").isEmpty
          && (isLive || !["", "0"].contains(Self.variable("CLICOLOR_FORCE", default: "")))
      }
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

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The abilities of standard output.
struct Terminal: Sendable {
  /// Whether lines can be overwritten.
  let isLive: Bool
  let hasColours: Bool

  /// The value of `--color`.
  enum Colour: String, CaseIterable {
    case always
    case automatic = "auto"
    case never
  }

  init(isLive: Bool, hasColours: Bool) {
    (self.isLive, self.hasColours) = (isLive, hasColours)
  }

  /// Decides by the type of the descriptor and by the environment.
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

  /// Whether standard input is a terminal, so that a user can answer.
  static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 }

  /// Read again for each drawing, since a window changes its size.
  var size: (width: Int, height: Int) {
    var size = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return (80, 24)
    }
    return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
  }
}

import Cancellation
import Procedures
import RegexBuilder

/// The short names belong to others: `Repeat` is that of RegexBuilder, beside the framework.
public func hasDigits(_ text: String) -> Bool {
  let digits = Regex {
    Repeat(1...3) { .digit }
  }
  return text.contains(digits)
}

/// A token is there too.
public let isCancelled = CancellationToken.never.isCancelled

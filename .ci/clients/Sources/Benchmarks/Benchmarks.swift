import Cancellation
import RegexBuilder

/// The short names belong to others.
public let digits = Regex {
  Repeat(1...3) { .digit }
}

/// A token is there too.
public let isCancelled = CancellationToken.never.isCancelled

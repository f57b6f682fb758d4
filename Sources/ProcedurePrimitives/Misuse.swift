/// Stops the program because of a mistake in how the framework is used.
///
/// The message is printed in release builds too; `preconditionFailure` would not print it there.
///
/// - Parameter message: names the procedure or queue, and says what to do.
package func stopBecauseOfMisuse(_ message: String) -> Never {
  fatalError(message.onOneLine)
}

/// Stops the program because the framework contradicts itself, which is a defect of the framework.
///
/// The message is printed in release builds too: without it, a report of the crash says only
/// "Illegal instruction".
///
/// - Parameter message: begins with "Internal inconsistency". Evaluated only when it is printed.
@usableFromInline @inline(never)
package func stopBecauseOfInconsistency(_ message: @autoclosure () -> String) -> Never {
  fatalError(message().onOneLine)
}

/// Stops the program, in release builds too, if an invariant of the framework does not hold.
///
/// - Parameters:
///   - condition: has no effects.
///   - message: begins with "Internal inconsistency". Evaluated only when it is printed.
@inlinable @inline(__always)
package func requireConsistency(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { stopBecauseOfInconsistency(message()) }
}

/// The body of an unavailable declaration, whose compiler message names the replacement. Never
/// called.
package func unavailableName() -> Never {
  stopBecauseOfInconsistency("Internal inconsistency: an unavailable name was used")
}

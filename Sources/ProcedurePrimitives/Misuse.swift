/// Stops the program because of a mistake in how the framework is used.
///
/// The message is printed in release builds too, which `preconditionFailure` does not do there.
///
/// - Parameter message: names the procedure or queue, and says what to do.
package func stopBecauseOfMisuse(_ message: String) -> Never {
  fatalError(message)
}

/// The body of a declaration that only lets the compiler say what to write instead. Never called.
package func unavailableName() -> Never {
  preconditionFailure("Internal inconsistency: an unavailable name was used")
}

/// A wait of a test took too long. The message says what everything waited for instead.
public struct WaitTimedOut: Error, CustomStringConvertible {
  /// The wait, its length, and a snapshot of the queue.
  public let description: String

  init(_ what: String, within duration: Duration, _ snapshot: String) {
    description = "\(what) within \(duration):\n\(snapshot)"
  }
}

/// The error for a wait of a test that took too long. The message shows the waits of everything
/// else.
public struct WaitTimedOut: Error, CustomStringConvertible {
  /// The wait, its length, and a snapshot of the queue.
  public let description: String

  init(_ what: String, within duration: Duration, _ snapshot: String) {
    description = "\(what) within \(duration):\n\(snapshot)"
  }
}

/// What was waited for did not happen in time. Says what everything waited for instead.
public struct WaitTimedOut: Error, CustomStringConvertible {
  /// What was waited for, for how long, and a snapshot of the queue.
  public let description: String

  init(_ what: String, within duration: Duration, _ snapshot: String) {
    description = "\(what) within \(duration):\n\(snapshot)"
  }
}

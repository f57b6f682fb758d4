internal import ProcedurePrimitives

/// The fraction of a procedure's work that is done, from 0 to 1: the present one, and the latest
/// after each change.
///
/// A slow reader gets the latest fraction, not all. The sequence ends after a 1 when the procedure
/// has finished; it also ends when the procedure is deallocated, and when the reading task is
/// cancelled.
public struct ProgressUpdates: AsyncSequence, Sendable {
  /// The sequence never throws.
  public typealias Failure = Never

  let watcher: ProgressWatcher
  let changes: AsyncStream<Void>
  let procedure: Weak<Procedure>

  /// Starts to read. Use one iterator at a time: two would share the changes.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(
      watcher: watcher, changes: changes.makeAsyncIterator(), procedure: procedure)
  }

  /// Reads the latest fraction, when there is a new one.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let watcher: ProgressWatcher
    fileprivate var changes: AsyncStream<Void>.Iterator
    fileprivate let procedure: Weak<Procedure>
    fileprivate var last: Double?

    /// The next fraction that differs from the previous one; nil at the end.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Double? {
      let call = BodyTask.current.beginWaiting(
        in: WaitingCall(name: "progressUpdates", target: .next(of: procedure)) { [watcher, last] in
          watcher.fraction == last
        })
      defer { call?.end() }
      while await changes.next(isolation: actor) != nil {
        let fraction = watcher.fraction
        guard fraction != last else { continue }
        last = fraction
        return fraction
      }
      return nil
    }
  }
}

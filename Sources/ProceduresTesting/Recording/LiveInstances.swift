internal import ProcedurePrimitives

/// Counts the objects of a test that are still alive.
///
/// ```swift
/// let live = LiveInstances()
/// queue.add(live.track(Upload(file)))
/// await queue.waitUntilAllFinished()
/// try await live.allReleased(within: .seconds(600))
/// ```
///
/// It keeps no object alive. A worker may still hold a procedure for a moment after its end:
/// wait, rather than check once.
public final class LiveInstances: Sendable {
  private struct Entry: Sendable {
    weak var object: (any AnyObject & Sendable)?
    let label: String
  }

  private let entries = Locked<[Entry]>([])

  /// Makes an empty count.
  public init() {}

  /// Counts `object` as long as it lives, and returns it.
  ///
  /// - Parameters:
  ///   - object: kept weakly.
  ///   - label: its name in `labels`; by default its description.
  /// - Returns: `object`.
  @discardableResult
  public func track<Object: AnyObject & Sendable>(
    _ object: Object, as label: String? = nil
  ) -> Object {
    let entry = Entry(object: object, label: label ?? "\(object)")
    entries.withLock { $0.append(entry) }
    return object
  }

  /// The number of tracked objects that are alive.
  public var count: Int { labels.count }

  /// The labels of the living instances, in the order in which they were tracked.
  public var labels: [String] {
    // A reference taken under the lock may be the last one, and must not be released there.
    let entries = entries.withLock { $0 }
    return entries.filter { $0.object != nil }.map(\.label)
  }

  /// Waits until none is alive, and throws a `LiveInstancesError` if that takes longer, in real
  /// time.
  public func allReleased(within duration: Duration) async throws {
    let deadline = ContinuousClock.now.saturatingAdvanced(by: duration)
    while count > 0, ContinuousClock.now < deadline, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(1))
    }
    try expectNone()
  }

  /// Throws a `LiveInstancesError` that names the living objects, if there are any.
  public func expectNone() throws {
    let labels = labels
    if !labels.isEmpty { throw LiveInstancesError(labels) }
  }
}

/// The error for objects that are still alive.
public struct LiveInstancesError: Error, CustomStringConvertible {
  /// The objects that are still alive, by name.
  public let description: String

  init(_ labels: [String]) {
    description = "\(labels.count) still alive: \(labels.joined(separator: ", "))"
  }
}

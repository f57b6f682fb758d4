internal import Dispatch

/// Recognises the thread of the main queue and of the main actor.
enum MainThread {
  /// A key whose value is set on the main queue only.
  private static let mark: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// Whether the calling thread runs the main queue.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }

  /// Whether the blocks of `queue` run on the main queue. An identity check would fail: on Linux
  /// `DispatchQueue.main` is a new object at each use.
  static func runs(_ queue: DispatchQueue) -> Bool { queue.getSpecific(key: mark) != nil }
}

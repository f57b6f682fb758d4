internal import Dispatch

/// Recognises the thread of the main queue and of the main actor.
enum MainThread {
  /// Set on the main queue only.
  private static let mark: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }

  /// Whether the blocks of `queue` run on the main queue. An identity check would fail: on Linux
  /// `DispatchQueue.main` is a new object at each use.
  static func runs(_ queue: DispatchQueue) -> Bool { queue.getSpecific(key: mark) != nil }
}

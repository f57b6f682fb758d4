internal import Dispatch

/// The thread of the main queue and of the main actor.
enum MainThread {
  /// Found on the main queue alone.
  private static let mark: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// Whether the calling thread is it.
  static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }

  /// Whether the blocks of `queue` run on it. Not by identity: on Linux the main queue is another object at each use.
  static func runs(_ queue: DispatchQueue) -> Bool { queue.getSpecific(key: mark) != nil }
}

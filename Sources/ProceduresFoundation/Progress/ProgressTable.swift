internal import Foundation
internal import ProcedurePrimitives

/// The progress objects in use, so that a procedure has only one as long as a reference keeps it.
enum ProgressTable {
  private struct Entry: Sendable {
    weak var progress: SharedProgress?
  }

  private static let entries = Locked<[ObjectIdentifier: Entry]>([:])

  /// The progress of `owner`, which it keeps alive. Made if there is none.
  static func progress<Kind: SharedProgress>(
    of owner: AnyObject, _ make: () -> Kind
  ) -> Kind {
    let key = ObjectIdentifier(owner)
    if let progress = existing(key) as? Kind { return progress }
    let made = make()
    // Two threads may have made one each; the second is released after the lock.
    let kept: SharedProgress = entries.withLock { entries in
      if let progress = entries[key]?.progress { return progress }
      entries[key] = Entry(progress: made)
      return made
    }
    if kept === made { made.begin() }
    return kept as? Kind ?? made
  }

  private static func existing(_ key: ObjectIdentifier) -> SharedProgress? {
    entries.withLock { $0[key]?.progress }
  }

  /// Removes the entry of a deallocated progress.
  static func remove(_ owner: ObjectIdentifier) {
    entries.withLock { entries in
      // A new progress may have replaced it.
      if let entry = entries[owner], entry.progress == nil { entries[owner] = nil }
    }
  }
}

/// A progress that callers share as long as a reference keeps it.
class SharedProgress: Progress, @unchecked Sendable {
  private let owner: ObjectIdentifier

  init(of owner: AnyObject) {
    self.owner = ObjectIdentifier(owner)
    super.init(parent: nil, userInfo: nil)
    isCancellable = true
  }

  deinit { ProgressTable.remove(owner) }

  /// Called once, if this object is the one in use.
  func begin() {}

  #if canImport(Darwin)
    /// Changes unit counts. Foundation guards each count, and calls observers, so this takes no
    /// lock.
    func change(_ body: () -> Void) { body() }
  #else
    private static let lock = Locked(())

    /// Changes unit counts, which Foundation passes on to parents.
    ///
    /// One lock serialises this in the process: on Linux Foundation does not guard the counts, and
    /// two procedures may have one parent. No user code runs under it, since there is no key-value
    /// observing.
    func change(_ body: () -> Void) { Self.lock.withLock { _ in body() } }
  #endif
}

/// Sets the latest state, and reads it again, until both agree.
///
/// Several threads may do so at once, without a lock around `set`, which may call observers. The
/// last thread to set may have read before the others; since it reads again, the latest state is
/// set in the end.
func setLatest<Value: Equatable>(_ latest: () -> Value, set: (Value) -> Void) {
  var value = latest()
  while true {
    set(value)
    let now = latest()
    if now == value { return }
    value = now
  }
}

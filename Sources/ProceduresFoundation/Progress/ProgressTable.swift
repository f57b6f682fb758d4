internal import Foundation
internal import ProcedurePrimitives

/// The progress objects that are in use, so that a procedure has one as long as anything keeps it.
enum ProgressTable {
  private struct Entry: Sendable {
    weak var progress: SharedProgress?
  }

  private static let entries = Locked<[ObjectIdentifier: Entry]>([:])

  /// That of `owner`, which it keeps alive, made if need be.
  static func progress<Kind: SharedProgress>(
    of owner: AnyObject, _ make: () -> Kind
  ) -> Kind {
    let key = ObjectIdentifier(owner)
    if let progress = existing(key) as? Kind { return progress }
    let made = make()
    // Two threads may have made one; the other is released after the lock.
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

  /// The progress of the owner has gone.
  static func remove(_ owner: ObjectIdentifier) {
    entries.withLock { entries in
      // Another one may have taken its place.
      if let entry = entries[owner], entry.progress == nil { entries[owner] = nil }
    }
  }
}

/// A progress that others share as long as anything keeps it.
class SharedProgress: Progress, @unchecked Sendable {
  private let owner: ObjectIdentifier

  init(of owner: AnyObject) {
    self.owner = ObjectIdentifier(owner)
    super.init(parent: nil, userInfo: nil)
    isCancellable = true
  }

  deinit { ProgressTable.remove(owner) }

  /// This one is used: called once.
  func begin() {}

  #if canImport(Darwin)
    /// Changes unit counts. Foundation guards each, and calls observers: nothing is ordered here.
    func change(_ body: () -> Void) { body() }
  #else
    private static let lock = Locked(())

    /// Changes unit counts, which go up to parents.
    ///
    /// One at a time in the process: on Linux nothing in Foundation guards them, and two procedures may
    /// have one parent. No user code runs in there, since there is no key-value observing.
    func change(_ body: () -> Void) { Self.lock.withLock { _ in body() } }
  #endif
}

/// Sets the present state, and looks again, until it has set the state that it sees.
///
/// Several threads may do so at once, with no lock around `set`, in which observers may be called. The last to set
/// may have looked before the others; because it looks again, the present state is set in the end.
func setLatest<Value: Equatable>(_ latest: () -> Value, set: (Value) -> Void) {
  var value = latest()
  while true {
    set(value)
    let now = latest()
    if now == value { return }
    value = now
  }
}

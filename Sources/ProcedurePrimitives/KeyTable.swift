/// The entries of a store by key, found by hash values.
///
/// Keys are the user's: their `==`, `hash(into:)` and `deinit` are user code. So a key is compared with those of its
/// hash, of which there is mostly one, between two critical sections; the second looks whether what the first found
/// still holds.
///
/// It knows no keys, only entries, so that it is not generic: in a module that is not compiled together with the store
/// each step of a generic table looks its types up.
///
/// Invariants:
/// 1. No code of a key runs with the lock held.
/// 2. An entry is in the table exactly while it is not empty: of a key that is not used nothing is left.
public final class KeyTable: Sendable {
  /// The entry of one key. The lock of the table guards the content, which a subclass has.
  open class Entry: @unchecked Sendable {
    @usableFromInline let hash: Int

    /// Makes an entry of a key of that hash value.
    public init(hash: Int) {
      self.hash = hash
    }

    /// Whether it is one of the same key. User code, called without the lock. To override.
    open func hasKey(of other: Entry) -> Bool { self === other }

    /// Whether nothing is under the key. Called with the lock held. To override.
    open var isEmpty: Bool { true }
  }

  @usableFromInline let entries = Locked<[Int: SmallList<Entry>]>([:])

  /// Makes an empty table.
  @inlinable
  public init() {}

  /// Runs `body`, under the lock, with the entry that there is of the key of `new`; if there is none, with `new`.
  @inlinable
  public func withEntry<Result: Sendable>(of new: Entry, _ body: (Entry) -> Result) -> Result {
    while true {
      // Kept until the lock is released: these may be the last references to keys.
      let seen = entries.withLock { $0[new.hash] ?? .none }
      let entry = seen.first { new.hasKey(of: $0) } ?? new
      let result: Result? = entries.withLock { entries in
        var place = entries[new.hash] ?? .none
        guard place.elementsEqual(seen, by: ===) else { return nil }
        let result = body(entry)
        // The key of an existing entry, or of `new`.
        let isListed = seen.contains { $0 === entry }
        guard isListed == entry.isEmpty else { return result }
        if isListed { place = place.keeping { $0 !== entry } } else { place.append(entry) }
        entries[new.hash] = place.isEmpty ? nil : place
        return result
      }
      if let result { return result }
    }
  }

  /// Runs `body`, under the lock, for an entry that may be in the table, and only loses content.
  @inlinable
  public func remove<Result: Sendable>(from entry: Entry, _ body: () -> Result) -> Result {
    let (result, released) = entries.withLock { entries -> (Result, SmallList<Entry>) in
      let result = body()
      guard entry.isEmpty, let place = entries[entry.hash] else { return (result, .none) }
      let kept = place.keeping { $0 !== entry }
      entries[entry.hash] = kept.isEmpty ? nil : kept
      return (result, place)
    }
    _ = released
    return result
  }

  /// Runs `body` under the lock.
  @inlinable
  public func withLock<Result: Sendable>(_ body: () -> Result) -> Result {
    entries.withLock { _ in body() }
  }

  /// Takes all entries out.
  public func takeAll() -> [Entry] {
    entries.withLock { exchange(&$0, with: [:]) }.values.flatMap { Array($0) }
  }

  /// What `body` makes of each entry, in no order. Called with the lock held.
  public func map<Result: Sendable>(_ body: (Entry) -> Result) -> [Result] {
    entries.withLock { $0.values.joined().map(body) }
  }

  /// Whether nothing is under any key.
  public var isEmpty: Bool { entries.withLock { $0.isEmpty } }
}

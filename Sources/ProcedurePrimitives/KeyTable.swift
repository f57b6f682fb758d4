/// The entries of a store by key, found by hash values.
///
/// The `==`, `hash(into:)` and `deinit` of keys are user code. So a key is compared with the keys
/// of its hash, usually one, between two critical sections; the second checks whether the result of
/// the first still holds.
///
/// The table has entries and no keys, so that it is not generic: across modules, each step of a
/// generic table would look its types up.
///
/// Invariants:
/// 1. No code of a key runs with the lock held.
/// 2. An entry is in the table exactly while it is not empty, so an unused key takes no memory.
public final class KeyTable: Sendable {
  /// The entry of one key. A subclass adds the content, which the table's lock guards.
  open class Entry: @unchecked Sendable {
    @usableFromInline let hash: Int

    /// Makes an entry for a key with this hash value.
    public init(hash: Int) {
      self.hash = hash
    }

    /// Whether both have the same key. Runs user code; called without the lock. Override it.
    open func hasKey(of other: Entry) -> Bool { self === other }

    /// Whether the entry has no content. Called with the lock held. Override it.
    open var isEmpty: Bool { true }
  }

  @usableFromInline let entries = Locked<[Int: SmallList<Entry>]>([:])

  /// Makes an empty table.
  @inlinable
  public init() {}

  /// Runs `body` under the lock, with the existing entry for the key of `new`; if there is none,
  /// with `new`.
  @inlinable
  public func withEntry<Result: Sendable>(of new: Entry, _ body: (Entry) -> Result) -> Result {
    while true {
      // 1. Find the entry without the lock, since comparing keys is user code. `seen` is kept until
      //    the lock is released: it may hold the last references to keys.
      let seen = entries.withLock { $0[new.hash] ?? .none }
      let entry = seen.first { new.hasKey(of: $0) } ?? new
      // 2. Use it if the entries of the hash are still the same. If not, start over.
      let result: Result? = entries.withLock { entries in
        var place = entries[new.hash] ?? .none
        guard place.elementsEqual(seen, by: ===) else { return nil }
        let result = body(entry)
        // Whether `entry` is an existing one, and not `new`.
        let isListed = seen.contains { $0 === entry }
        guard isListed == entry.isEmpty else { return result }
        if isListed { place = place.keeping { $0 !== entry } } else { place.append(entry) }
        entries[new.hash] = place.isEmpty ? nil : place
        return result
      }
      if let result { return result }
    }
  }

  /// Runs `body`, which only removes content of `entry`, under the lock. The entry may be in the
  /// table.
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

  /// The results of `body` for all entries, in no particular order. `body` runs with the lock held.
  public func map<Result: Sendable>(_ body: (Entry) -> Result) -> [Result] {
    entries.withLock { $0.values.joined().map(body) }
  }

  /// Whether `body` returns true for one of the entries. `body` runs with the lock held.
  public func contains(where body: (Entry) -> Bool) -> Bool {
    entries.withLock { $0.values.joined().contains(where: body) }
  }
}

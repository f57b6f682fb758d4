/// A list inside a `Slab`: where it begins and ends.
public struct SlabList: Sendable {
  @usableFromInline var first: UInt32 = .max
  @usableFromInline var last: UInt32 = .max

  /// Makes an empty list.
  @inlinable
  public init() {}

  /// Whether no element is in the list.
  @inlinable
  public var isEmpty: Bool { first == .max }
}

/// The place of an element of a `Slab`, and which element is meant.
public struct SlabKey: Hashable, Sendable {
  /// The place of the element.
  public let place: UInt32
  /// The number of the insertion, which distinguishes the elements of a place over time.
  public let serial: UInt64

  /// Makes a key. A slab makes the keys of its elements.
  @inlinable
  public init(place: UInt32, serial: UInt64) {
    self.place = place
    self.serial = serial
  }
}

/// Elements in ordered lists, with O(1) insertion, removal and moving, and no allocation for each.
///
/// The slab owns the elements; the owner of the slab keeps the lists (`SlabList`), as many as it
/// needs, and passes one to each call. An element is in one list at a time. A place is reused after
/// removal; its `SlabKey` is not, so a key that outlived its element finds nothing.
///
/// Invariants:
/// 1. Each place is in exactly one list, or in the chain of free places.
/// 2. `serial` grows with each insertion, is never reused, and orders the elements by age.
public struct Slab<Element> {
  @usableFromInline
  struct Entry {
    @usableFromInline var element: Element?
    @usableFromInline var previous: UInt32
    @usableFromInline var next: UInt32
    @usableFromInline var serial: UInt64

    @usableFromInline init(element: Element?, previous: UInt32, next: UInt32, serial: UInt64) {
      self.element = element
      self.previous = previous
      self.next = next
      self.serial = serial
    }
  }

  /// The `UInt32` that stands for "no place".
  @inlinable
  public static var nowhere: UInt32 { .max }

  /// A slab with more places than this releases memory as it empties: all when it is empty, and the
  /// places behind the last occupied one when that is at least half of them.
  @inlinable
  public static var retainedPlaces: Int { 64 }

  @usableFromInline var entries: ContiguousArray<Entry> = []
  @usableFromInline var firstFree: UInt32 = .max
  @usableFromInline var lastSerial: UInt64 = 0

  /// The number of removals until the slab checks for memory to release.
  @usableFromInline var removalsToLook = 64

  @usableFromInline var storedCount = 0

  /// How many elements there are, in all lists.
  @inlinable
  public var count: Int { storedCount }

  /// Makes an empty slab. Allocates nothing.
  @inlinable
  public init() {}

  /// Puts `element` at the end of `list`.
  @inlinable
  public mutating func append(_ element: consuming Element, to list: inout SlabList) -> SlabKey {
    lastSerial += 1
    let place: UInt32
    if firstFree != Self.nowhere {
      place = firstFree
      firstFree = entries[Int(place)].next
      entries[Int(place)] = Entry(
        element: element, previous: list.last, next: Self.nowhere, serial: lastSerial)
    } else {
      place = UInt32(entries.count)
      if entries.isEmpty { entries.reserveCapacity(4) }
      entries.append(
        Entry(element: element, previous: list.last, next: Self.nowhere, serial: lastSerial))
      removalsToLook = max(Self.retainedPlaces, entries.count / 2)
    }
    link(place, after: list.last, in: &list)
    storedCount += 1
    return SlabKey(place: place, serial: lastSerial)
  }

  /// Takes the element at `place` out of `list`, which must contain it.
  @inlinable
  public mutating func remove(at place: UInt32, from list: inout SlabList) -> Element {
    unlink(place, from: &list)
    guard let element = entries[Int(place)].element.take() else {
      stopBecauseOfInconsistency("Internal inconsistency: place \(place) of a slab is empty")
    }
    entries[Int(place)].serial = 0
    entries[Int(place)].next = firstFree
    firstFree = place
    storedCount -= 1
    removalsToLook -= 1
    if removalsToLook == 0 || (count == 0 && entries.count > Self.retainedPlaces) { shrink() }
    return element
  }

  /// Takes the element that `key` names out of `list`; nil if it was removed before.
  @inlinable
  public mutating func remove(_ key: SlabKey, from list: inout SlabList) -> Element? {
    guard contains(key) else { return nil }
    return remove(at: key.place, from: &list)
  }

  /// Takes the first element out of `list`; nil if there is none.
  @inlinable
  public mutating func popFirst(from list: inout SlabList) -> Element? {
    list.isEmpty ? nil : remove(at: list.first, from: &list)
  }

  /// Moves the element at `place` from the list it is in to the end of another.
  @inlinable
  public mutating func move(
    _ place: UInt32, from source: inout SlabList, to target: inout SlabList
  ) {
    unlink(place, from: &source)
    entries[Int(place)].previous = target.last
    entries[Int(place)].next = Self.nowhere
    link(place, after: target.last, in: &target)
  }

  /// The first place of `list`, or `nowhere`.
  @inlinable
  public func firstPlace(of list: SlabList) -> UInt32 { list.first }

  /// The place after `place` in its list, or `nowhere`.
  @inlinable
  public func place(after place: UInt32) -> UInt32 { entries[Int(place)].next }

  /// The place before `place` in its list, or `nowhere`.
  @inlinable
  public func place(before place: UInt32) -> UInt32 { entries[Int(place)].previous }

  /// The last element of `list`; nil if there is none.
  @inlinable
  public func last(of list: SlabList) -> Element? { list.isEmpty ? nil : self[list.last] }

  /// The key of the element at `place`.
  @inlinable
  public func key(at place: UInt32) -> SlabKey {
    SlabKey(place: place, serial: entries[Int(place)].serial)
  }

  /// Whether the element that `key` names is still here.
  @inlinable
  public func contains(_ key: SlabKey) -> Bool {
    isOccupied(key.place) && entries[Int(key.place)].serial == key.serial
  }

  /// Whether there is an element at `place`, perhaps a later one than before.
  @inlinable
  public func isOccupied(_ place: UInt32) -> Bool {
    Int(place) < entries.count && entries[Int(place)].serial != 0
  }

  /// The element at an occupied place, accessed where it is: neither copied nor retained.
  @inlinable
  public subscript(place: UInt32) -> Element {
    _read { yield entries[Int(place)].element! }
    _modify { yield &entries[Int(place)].element! }
  }

  /// The elements of `list`, in its order.
  @inlinable
  public func elements(of list: SlabList) -> [Element] {
    var result: [Element] = []
    var place = list.first
    while place != Self.nowhere {
      result.append(self[place])
      place = entries[Int(place)].next
    }
    return result
  }

  /// All elements of all lists, in the order in which they were inserted.
  ///
  /// O(n) if no place was used twice, otherwise O(n log n).
  @inlinable
  public func elementsByAge() -> [Element] {
    var places: [UInt32] = []
    places.reserveCapacity(count)
    var (isInOrder, newest): (Bool, UInt64) = (true, 0)
    for index in entries.indices where entries[index].serial != 0 {
      isInOrder = isInOrder && entries[index].serial > newest
      newest = entries[index].serial
      places.append(UInt32(index))
    }
    if !isInOrder { places.sort { entries[Int($0)].serial < entries[Int($1)].serial } }
    return places.map { self[$0] }
  }

  /// Amortised O(1): it visits all places after half as many removals.
  @inlinable
  mutating func shrink() {
    removalsToLook = max(Self.retainedPlaces, entries.count / 2)
    guard entries.count > Self.retainedPlaces else { return }
    var needed = count == 0 ? 0 : entries.count
    while needed > 0, entries[needed - 1].element == nil { needed -= 1 }
    guard needed <= entries.count / 2 else { return }
    entries = ContiguousArray(entries[..<needed])
    firstFree = Self.nowhere
    for place in entries.indices.reversed() where entries[place].element == nil {
      entries[place].next = firstFree
      firstFree = UInt32(place)
    }
    removalsToLook = max(Self.retainedPlaces, needed / 2)
  }

  @inlinable
  mutating func link(_ place: UInt32, after previous: UInt32, in list: inout SlabList) {
    if previous == Self.nowhere {
      list.first = place
    } else {
      entries[Int(previous)].next = place
    }
    list.last = place
  }

  @inlinable
  mutating func unlink(_ place: UInt32, from list: inout SlabList) {
    let (previous, next) = (entries[Int(place)].previous, entries[Int(place)].next)
    if previous == Self.nowhere { list.first = next } else { entries[Int(previous)].next = next }
    if next == Self.nowhere { list.last = previous } else { entries[Int(next)].previous = previous }
  }
}

extension Slab.Entry: Sendable where Element: Sendable {}
extension Slab: Sendable where Element: Sendable {}

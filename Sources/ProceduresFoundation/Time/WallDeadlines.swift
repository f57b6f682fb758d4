internal import ProcedurePrimitives

/// Targets with deadlines by the wall clock, the earliest first. It has no clock and no lock, and
/// calls nothing.
///
/// It is a heap and not a wheel, because the wall clock may be set back, and a wheel's time cannot.
struct WallDeadlines {
  private struct Entry {
    let deadline: Duration
    let serial: UInt64
    let target: any TimerTarget

    func comes(before other: Entry) -> Bool {
      (deadline, serial) < (other.deadline, other.serial)
    }
  }

  private var entries: [Entry] = []
  /// The place of each entry in the heap.
  private var places: [UInt64: Int] = [:]
  private var lastSerial: UInt64 = 0

  var count: Int { entries.count }
  var first: Duration? { entries.first?.deadline }

  /// O(log n).
  mutating func insert(_ target: any TimerTarget, at deadline: Duration) -> SlabKey {
    lastSerial += 1
    entries.append(Entry(deadline: deadline, serial: lastSerial, target: target))
    places[lastSerial] = entries.count - 1
    rise(from: entries.count - 1)
    return SlabKey(place: 0, serial: lastSerial)
  }

  /// Removes a target and returns it; nil if it was removed before. O(log n).
  mutating func remove(_ key: SlabKey) -> (any TimerTarget)? {
    places[key.serial].map { remove(at: $0) }
  }

  /// Removes all targets that are due at `now`, and returns them in order.
  mutating func takeDue(at now: Duration) -> [any TimerTarget] {
    var due: [any TimerTarget] = []
    while let first, first <= now { due.append(remove(at: 0)) }
    return due
  }

  private mutating func remove(at place: Int) -> any TimerTarget {
    entries.swapAt(place, entries.count - 1)
    let removed = entries.removeLast()
    places[removed.serial] = nil
    if place < entries.count {
      places[entries[place].serial] = place
      sink(from: place)
      rise(from: place)
    }
    return removed.target
  }

  private mutating func rise(from start: Int) {
    var place = start
    while place > 0, entries[place].comes(before: entries[(place - 1) / 2]) {
      swap(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private mutating func sink(from start: Int) {
    var place = start
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2] where child < entries.count {
        if entries[child].comes(before: entries[least]) { least = child }
      }
      guard least != place else { return }
      swap(place, least)
      place = least
    }
  }

  private mutating func swap(_ left: Int, _ right: Int) {
    entries.swapAt(left, right)
    places[entries[left].serial] = left
    places[entries[right].serial] = right
  }
}

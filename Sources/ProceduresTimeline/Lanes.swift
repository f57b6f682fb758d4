/// Assigns procedures to lanes, as if each held a worker from its start to its finish.
///
/// Only one procedure at a time takes a lane. During a group, one of its children may be in the
/// group's own lane; its other children take lanes of their own.
enum Lanes {
  private struct Open {
    let id: Int
    let end: Int64
  }

  /// The lanes in use, ordered by the ends of their lowest procedures.
  private struct Ends {
    private var heap: [(end: Int64, lane: Int)] = []

    var first: (end: Int64, lane: Int)? { heap.first }

    mutating func insert(_ end: Int64, _ lane: Int) {
      heap.append((end, lane))
      var place = heap.count - 1
      while place > 0, heap[place] < heap[(place - 1) / 2] {
        heap.swapAt(place, (place - 1) / 2)
        place = (place - 1) / 2
      }
    }

    mutating func removeFirst() {
      heap.swapAt(0, heap.count - 1)
      heap.removeLast()
      var place = 0
      while true {
        var least = place
        for child in [2 * place + 1, 2 * place + 2]
        where child < heap.count && heap[child] < heap[least] {
          least = child
        }
        if least == place { return }
        heap.swapAt(place, least)
        place = least
      }
    }
  }

  static func assign(to entries: inout [ProcedureTimeline.Entry], end: Int64) {
    let started = entries.indices.filter { entries[$0].times.started != nil }
    let order = started.sorted { left, right in
      (entries[left].times.started ?? 0, entries[left].id)
        < (entries[right].times.started ?? 0, entries[right].id)
    }
    var lanes: [[Open]] = []
    var laneOfGroup: [Int: Int] = [:]
    var inUse = Ends()
    var free = Ends()
    for index in order {
      let entry = entries[index]
      guard let start = entry.times.started else { continue }
      let finish = max(entry.times.finished ?? end, start)
      while let first = inUse.first, first.end <= start {
        inUse.removeFirst()
        lanes[first.lane] = []
        free.insert(Int64(first.lane), first.lane)
      }
      let lane: Int
      if let parent = entry.parent, let own = laneOfGroup[parent],
        isFree(&lanes[own], for: parent, at: start, until: finish)
      {
        lane = own
      } else {
        if let first = free.first {
          lane = first.lane
          free.removeFirst()
        } else {
          lane = lanes.count
          lanes.append([])
        }
        inUse.insert(finish, lane)
      }
      lanes[lane].append(Open(id: entry.id, end: finish))
      if entry.isGroup { laneOfGroup[entry.id] = lane }
      entries[index].lane = lane
    }
  }

  /// Whether the lane has room for a child inside its group.
  private static func isFree(
    _ lane: inout [Open], for parent: Int, at start: Int64, until finish: Int64
  ) -> Bool {
    while let last = lane.last, last.id != parent, last.end <= start { lane.removeLast() }
    guard let last = lane.last, last.id == parent else { return false }
    return finish <= last.end
  }
}

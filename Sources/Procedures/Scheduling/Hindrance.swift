/// Why a member of a list that is ready has not been started.
enum Hindrance: UInt8, Sendable {
  /// Its group has not begun to execute.
  case group
  case suspension
  /// All slots are in use.
  case slot
  /// A slot is free, and a worker has not come yet.
  case worker
}

/// How long each hindrance was there, in nanoseconds.
package struct HindranceTimes: Sendable, Equatable {
  package var group: Int64 = 0
  package var suspension: Int64 = 0
  package var slot: Int64 = 0
  package var worker: Int64 = 0

  /// All of it.
  package var total: Int64 { group + suspension + slot + worker }

  static func += (left: inout Self, right: Self) {
    left.group += right.group
    left.suspension += right.suspension
    left.slot += right.slot
    left.worker += right.worker
  }

  /// Of each hindrance the smaller one.
  func limited(to other: Self) -> Self {
    HindranceTimes(
      group: min(group, other.group), suspension: min(suspension, other.suspension),
      slot: min(slot, other.slot), worker: min(worker, other.worker))
  }

  package static func -= (left: inout Self, right: Self) {
    left.group -= right.group
    left.suspension -= right.suspension
    left.slot -= right.slot
    left.worker -= right.worker
  }

  /// A difference of two looks may have a part that is less than nothing, if the hindrance changed with the second of
  /// them: then that much of another part belongs to it. The total remains.
  mutating func settle() {
    if min(group, suspension, slot, worker) >= 0 { return }
    var missing: Int64 = 0
    func take(from part: inout Int64) {
      let taken = part < 0 ? part : min(part, missing)
      part -= taken
      missing -= taken
    }
    // What is missing is known when all have been asked once.
    for _ in 0..<2 {
      take(from: &group)
      take(from: &suspension)
      take(from: &slot)
      take(from: &worker)
    }
  }
}

extension ReadyListStateMachine {
  /// What keeps members that are ready from being started, now.
  var hindrance: Hindrance {
    @inline(__always) get {
      if phase == .held { return .group }
      if isSuspended { return .suspension }
      return slotsInUse >= limit ? .slot : .worker
    }
  }
}

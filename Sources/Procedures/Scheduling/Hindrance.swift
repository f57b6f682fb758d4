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

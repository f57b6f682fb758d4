/// Why a member of a list that is ready has not been started.
enum Hindrance: Sendable {
  /// Its group has not begun to execute.
  case group
  case suspension
  /// All slots are in use.
  case slot
  /// A slot is free, and a worker has not come yet.
  case worker

  static let all: [Hindrance] = [.group, .suspension, .slot, .worker]
}

/// A number for each hindrance.
struct ForEachHindrance<Value: AdditiveArithmetic & Sendable>: Sendable {
  private var group = Value.zero
  private var suspension = Value.zero
  private var slot = Value.zero
  private var worker = Value.zero

  subscript(hindrance: Hindrance) -> Value {
    get {
      switch hindrance {
      case .group: group
      case .suspension: suspension
      case .slot: slot
      case .worker: worker
      }
    }
    set {
      switch hindrance {
      case .group: group = newValue
      case .suspension: suspension = newValue
      case .slot: slot = newValue
      case .worker: worker = newValue
      }
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

/// Why a member of a list that is ready has not been started. The number is its place among the times of a list.
enum Hindrance: Int, Sendable {
  /// Its group has not begun to execute.
  case group
  case suspension
  /// All slots are in use.
  case slot
  /// A slot is free, and a worker has not come yet.
  case worker
}

/// A number for each hindrance.
///
/// Four numbers, and not a vector: that would have to lie at a multiple of 32 bytes, which memory of the heap does not.
struct ForEachHindrance<Value: SIMDScalar & Sendable>: Sendable
where Value: ExpressibleByIntegerLiteral {
  private var values: (Value, Value, Value, Value) = (0, 0, 0, 0)

  /// By the number of the hindrance.
  var lanes: SIMD4<Value> {
    @inline(__always) get { SIMD4(values.0, values.1, values.2, values.3) }
    @inline(__always) set { values = (newValue[0], newValue[1], newValue[2], newValue[3]) }
  }
}

extension ReadyListStateMachine {
  /// Why ready members are not started, now.
  var hindrance: Hindrance {
    @inline(__always) get {
      if phase == .held { return .group }
      if isSuspended { return .suspension }
      return slotsInUse >= limit ? .slot : .worker
    }
  }
}

internal import Dispatch

/// Priority and quality of an item, in one byte: they are part of every one, twice.
struct Urgency: Sendable {
  private var bits = ProcedurePriority.normal.rawValue

  init(_ priority: ProcedurePriority = .normal) {
    self.priority = priority
  }

  /// The number of a quality is its place here.
  private static let qualities: [DispatchQoS.QoSClass] = [
    .unspecified, .background, .utility, .default, .userInitiated, .userInteractive,
  ]

  var priority: ProcedurePriority {
    get {
      guard let priority = ProcedurePriority(rawValue: bits & 7) else {
        preconditionFailure("Internal inconsistency: urgency \(bits) has no priority")
      }
      return priority
    }
    set { bits = bits & ~7 | newValue.rawValue }
  }

  var isNormal: Bool {
    @inline(__always) get { bits & 7 == ProcedurePriority.normal.rawValue }
  }

  /// `.unspecified` for that of the queue.
  var quality: DispatchQoS.QoSClass {
    get { Self.qualities[Int(bits >> 3)] }
    set {
      let number = Self.qualities.firstIndex(of: newValue) ?? 0
      bits = bits & 7 | UInt8(number) << 3
    }
  }

  /// Nil for that of the queue.
  var ownQuality: DispatchQoS.QoSClass? {
    @inline(__always) get { bits >> 3 == 0 ? nil : quality }
  }
}

internal import Dispatch
internal import ProcedurePrimitives

/// Decides which of several ready procedures a queue starts first.
///
/// Among equals, the queue starts the first one to become ready. Priority does not interrupt
/// procedures, and does not change the order of dependencies.
public enum ProcedurePriority: UInt8, Sendable, Comparable, CaseIterable {
  /// It starts after all others.
  case veryLow
  /// It starts after normal ones.
  case low
  /// The default.
  case normal
  /// It starts before normal ones.
  case high
  /// It starts before all others.
  case veryHigh

  /// Orders the priorities from low to high.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Priority and quality of a procedure, in one byte, since every procedure stores two of them.
struct Urgency: Sendable {
  private var bits = ProcedurePriority.normal.rawValue

  init(_ priority: ProcedurePriority = .normal) {
    self.priority = priority
  }

  /// A quality is stored as its index in this array.
  private static let qualities: [DispatchQoS.QoSClass] = [
    .unspecified, .background, .utility, .default, .userInitiated, .userInteractive,
  ]

  var priority: ProcedurePriority {
    @inline(__always) get {
      guard let priority = ProcedurePriority(rawValue: bits & 7) else {
        stopBecauseOfInconsistency("Internal inconsistency: urgency \(bits) has no priority")
      }
      return priority
    }
    set { bits = bits & ~7 | newValue.rawValue }
  }

  var isNormal: Bool {
    @inline(__always) get { bits & 7 == ProcedurePriority.normal.rawValue }
  }

  /// `.unspecified` means the queue's quality.
  var quality: DispatchQoS.QoSClass {
    get { Self.qualities[Int(bits >> 3)] }
    set {
      let number = Self.qualities.firstIndex(of: newValue) ?? 0
      bits = bits & 7 | UInt8(number) << 3
    }
  }

  /// Nil means the queue's quality.
  var ownQuality: DispatchQoS.QoSClass? {
    @inline(__always) get { bits >> 3 == 0 ? nil : quality }
  }
}

internal import Dispatch
internal import ProcedurePrimitives

/// Which of several ready procedures a queue starts first.
///
/// Among equals, the first to become ready. Priority decides only between procedures that
/// are ready: it does not interrupt, and does not order dependencies.
public enum ProcedurePriority: UInt8, Sendable, Comparable, CaseIterable {
  /// After everything else.
  case veryLow
  /// After the normal ones.
  case low
  /// The default.
  case normal
  /// Before the normal ones.
  case high
  /// Before everything else.
  case veryHigh

  /// Orders the priorities from low to high.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

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

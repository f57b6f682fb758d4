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

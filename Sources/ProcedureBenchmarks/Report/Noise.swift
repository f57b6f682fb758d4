/// When a figure, or the machine, is not to be trusted.
enum Noise {
  /// Rows that are compared vary too much.
  case rows
  /// Another process had the processors.
  case machine

  /// A row whose quartiles are further apart than this part of its median is noisy.
  static let mostSpread = 0.15

  /// A contest during which one in ten runs of the reference loop took longer than the median by more
  /// than this part was disturbed.
  static let mostReferenceTail = 0.05
}

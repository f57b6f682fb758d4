/// When a figure, or the machine, is not to be trusted.
enum Noise {
  /// A row whose quartiles are further apart than this part of its median is noisy.
  static let mostSpread = 0.15

  /// A contest during which the reference loop varied by more than this part was disturbed.
  static let mostReferenceSpread = 0.05
}

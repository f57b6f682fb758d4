/// What went wrong with an attempt.
public struct RetryFailureInfo<Attempt: ProcedureProtocol>: Sendable {
  /// The attempt, which is about to finish.
  public let procedure: Attempt

  /// Its errors.
  public let errors: [any Error]

  /// How many attempts there have been, with this one.
  public let count: Int
}

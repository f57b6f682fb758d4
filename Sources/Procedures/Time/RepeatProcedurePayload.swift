/// The next attempt, and the wait before it.
public struct RepeatProcedurePayload<Attempt: ProcedureProtocol>: Sendable {
  /// The attempt.
  public var procedure: Attempt

  /// How long to wait before; nil for what the wait strategy says. Without effect on the first.
  public var delay: Duration?

  /// Called with `procedure` before it is added; nil, the default, for nothing.
  public var configure: (@Sendable (Attempt) -> Void)?

  /// Makes a description of the next attempt.
  public init(
    procedure: Attempt, delay: Duration? = nil,
    configure: (@Sendable (Attempt) -> Void)? = nil
  ) {
    self.procedure = procedure
    self.delay = delay
    self.configure = configure
  }
}

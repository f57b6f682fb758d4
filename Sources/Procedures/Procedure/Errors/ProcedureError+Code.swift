extension ProcedureError {
  /// The kinds of error.
  ///
  /// More may come. Declare your own as static properties in an extension:
  ///
  /// ```swift
  /// extension ProcedureError.Code {
  ///   static let quotaExceeded = Self(rawValue: "quotaExceeded")
  /// }
  /// ```
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// Its name.
    public let rawValue: String

    /// Its name.
    public var description: String { rawValue }

    /// The code of that name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It did not finish within its time, counted from its start. See `duration`.
    public static let timedOut = Code(rawValue: "timedOut")
    /// The deadline of the token that cancels it has passed.
    public static let deadlineExceeded = Code(rawValue: "deadlineExceeded")
    /// The group that it is in was cancelled, with the underlying errors.
    public static let parentCancelled = Code(rawValue: "parentCancelled")
    /// Another child of its group failed, with the underlying error, and the group then cancels the
    /// rest.
    public static let siblingFailed = Code(rawValue: "siblingFailed")
    /// It was added to a group that had already finished, and so never ran.
    public static let groupFinished = Code(rawValue: "groupFinished")
    /// It was added to a queue that had been closed, and so never ran.
    public static let queueClosed = Code(rawValue: "queueClosed")
    /// There was no room for it in the feed that it was offered to, so it never ran. See
    /// `ProcedureFeed`.
    public static let queueFull = Code(rawValue: "queueFull")
    /// A child of a group, at any depth, ended with the underlying error. It is never nested. See
    /// `path`.
    public static let child = Code(rawValue: "child")
    /// A dependency that had to succeed failed, with the underlying errors; or it succeeded, and has
    /// the underlying error in place of an output.
    public static let dependencyFailed = Code(rawValue: "dependencyFailed")
    /// A dependency that must not be cancelled was cancelled, with the underlying errors.
    public static let dependencyCancelled = Code(rawValue: "dependencyCancelled")
    /// The procedure had no value where one was needed: no input when it executed, or no output for
    /// a procedure that receives it.
    public static let requirementNotSatisfied = Code(rawValue: "requirementNotSatisfied")
    /// One of its conditions was not satisfied, because of the underlying errors, if any.
    public static let conditionFailed = Code(rawValue: "conditionFailed")
    /// The service that it uses has failed too often, so it was not started. See `CircuitBreaker`.
    public static let circuitOpen = Code(rawValue: "circuitOpen")
    /// It waited for itself, through others. See `cycle`.
    public static let dependencyCycle = Code(rawValue: "dependencyCycle")
    /// A retry had nothing to attempt: its `max` is 0, or its closure or iterator gave no attempt.
    public static let notAttempted = Code(rawValue: "notAttempted")
    /// Its finish handle was released without having been called.
    public static let finishDropped = Code(rawValue: "finishDropped")
    /// The type does not override `execute()`.
    public static let notImplemented = Code(rawValue: "notImplemented")
    /// It tried to add another procedure before it was enqueued or after it finished, when it has
    /// no queue to add to.
    public static let notEnqueued = Code(rawValue: "notEnqueued")
  }
}

extension ProcedureError.Code {
  /// Matches the errors that have the code, in a `catch` or a `case`.
  ///
  /// ```swift
  /// do {
  ///   page = try await fetch.value
  /// } catch ProcedureError.Code.timedOut {
  ///   page = placeholder
  /// }
  /// ```
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? ProcedureError)?.code == code
  }
}

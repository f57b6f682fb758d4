extension ProcedureError {
  /// The kinds of error.
  ///
  /// More may come. One of your own is a static property in an extension:
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

    /// It did not finish in the time it was given, counted from when it started. See `duration`.
    public static let timedOut = Code(rawValue: "timedOut")
    /// The deadline of the token that it was to be cancelled by has passed.
    public static let deadlineExceeded = Code(rawValue: "deadlineExceeded")
    /// The group that it is in was cancelled, with the underlying errors.
    public static let parentCancelled = Code(rawValue: "parentCancelled")
    /// Another child of its group failed, with the underlying error, and the group cancels the rest
    /// then.
    public static let siblingFailed = Code(rawValue: "siblingFailed")
    /// It was added to a group that had already finished, and so never ran.
    public static let groupFinished = Code(rawValue: "groupFinished")
    /// It was added to a queue that had been closed, and so never ran.
    public static let queueClosed = Code(rawValue: "queueClosed")
    /// There was no room for it in the feed that it was offered to, and so it never ran. See `ProcedureFeed`.
    public static let queueFull = Code(rawValue: "queueFull")
    /// A child of a group ended with the underlying error. Never nested, however deep the child. See `path`.
    public static let child = Code(rawValue: "child")
    /// A dependency failed, with the underlying errors, and had to succeed.
    public static let dependencyFailed = Code(rawValue: "dependencyFailed")
    /// A dependency was cancelled, with the underlying errors, and must not have been.
    public static let dependencyCancelled = Code(rawValue: "dependencyCancelled")
    /// The procedure had no value where one was needed: no input when it executed, or no output for
    /// a procedure that is to get it.
    public static let requirementNotSatisfied = Code(rawValue: "requirementNotSatisfied")
    /// A condition of it was not satisfied, because of the underlying errors, if any.
    public static let conditionFailed = Code(rawValue: "conditionFailed")
    /// The service that it uses has failed too often, and so it was not started. See `CircuitBreaker`.
    public static let circuitOpen = Code(rawValue: "circuitOpen")
    /// It waited for itself, by way of others. See `cycle`.
    public static let dependencyCycle = Code(rawValue: "dependencyCycle")
    /// A retry had nothing to attempt: its `max` is 0, or its closure or iterator gave no attempt.
    public static let notAttempted = Code(rawValue: "notAttempted")
    /// Its finish handle was released without having been called.
    public static let finishDropped = Code(rawValue: "finishDropped")
    /// The type does not override `execute()`.
    public static let notImplemented = Code(rawValue: "notImplemented")
    /// It tried to add another procedure while it was not between enqueued and finished itself, so
    /// that there is no queue to add to.
    public static let notEnqueued = Code(rawValue: "notEnqueued")
  }
}

extension ProcedureError.Code {
  /// Lets a code stand for the errors that have it, in a `catch` or a `case`.
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

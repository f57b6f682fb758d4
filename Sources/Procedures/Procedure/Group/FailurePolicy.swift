/// Decides what happens to the other children of a group when one fails.
public enum FailurePolicy: Sendable {
  /// They run as if nothing had happened. This is the default.
  case keepGoing
  /// They are cancelled with `ProcedureError.Code.siblingFailed`, and so are children that are
  /// added later. The group itself is not cancelled: it ends as failed.
  case cancelRemaining
}

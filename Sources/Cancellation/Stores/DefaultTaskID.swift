/// The id of tasks that need no id of their own. All values are equal.
public struct DefaultTaskID: Hashable, Sendable {
  /// The id.
  public init() {}
}

/// The id of tasks that need none. All values are equal.
public struct DefaultTaskID: Hashable, Sendable {
  /// The id.
  public init() {}
}

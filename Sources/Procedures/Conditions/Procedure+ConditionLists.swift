extension Procedure {
  /// Adds several conditions, in order. See `add(condition:)`.
  ///
  /// ```swift
  /// upload.add(conditions: IsOnline(), BlockCondition { !files.isEmpty })
  /// ```
  public final func add(conditions: any Condition...) {
    add(conditions: conditions)
  }

  /// Adds a list of conditions, in order, of whatever types. See `add(condition:)`.
  public final func add(conditions: [any Condition]) {
    for condition in conditions { add(condition: condition) }
  }
}

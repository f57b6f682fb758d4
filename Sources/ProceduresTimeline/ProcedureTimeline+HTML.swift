extension ProcedureTimeline.Snapshot {
  /// x
  public func html(title: String = "Timeline") -> String { "" }
}

extension ProcedureProtocol {
  /// Cancels the procedure if it has not finished this long after it started.
  ///
  /// ```swift
  /// queue.add(Fetch(url).timeout(after: .seconds(10)))
  /// ```
  ///
  /// Short for adding a `TimeoutObserver`: the time counts from willExecute, on the queue's clock,
  /// and the cancel has the error `ProcedureError.Code.timedOut`. At zero or less it is cancelled
  /// at once. Of several the shortest counts.
  ///
  /// - Returns: this procedure.
  @discardableResult
  public func timeout(after duration: Duration) -> Self {
    add(observer: TimeoutObserver(by: duration))
    return self
  }
}

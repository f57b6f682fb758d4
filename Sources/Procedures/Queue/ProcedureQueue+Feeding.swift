extension ProcedureQueue {
  /// Adds the procedures of a sequence while there is room: at most so many of them are pending or running at a time.
  ///
  /// ```swift
  /// await queue.add(pictures.lazy.map { Resize($0) }, atMost: 16)
  /// ```
  ///
  /// The queue asks the sequence for the next one only when there is room, so `lazy.map` makes none before. The call
  /// returns when the sequence has ended, for which it needs room once more, not when the procedures have finished. It
  /// also returns when the task is cancelled, or the queue closed; procedures added before go on. With several
  /// sequences, or to refuse instead of waiting, make a `ProcedureFeed`.
  public func add<Procedures: Sequence>(
    _ procedures: Procedures, atMost limit: Int
  ) async where Procedures.Element: Procedure {
    await ProcedureFeed(into: self, atMost: limit).add(procedures)
  }

  /// Adds the procedures of an asynchronous sequence while there is room, as `add(_:atMost:)` of a plain one.
  ///
  /// ```swift
  /// try await queue.add(urls.map { Fetch($0) }, atMost: 8)
  /// ```
  ///
  /// - Throws: the error of the sequence. Procedures added before go on.
  public func add<Procedures: AsyncSequence>(
    _ procedures: Procedures, atMost limit: Int
  ) async throws(Procedures.Failure) where Procedures.Element: Procedure {
    try await ProcedureFeed(into: self, atMost: limit).add(procedures)
  }
}

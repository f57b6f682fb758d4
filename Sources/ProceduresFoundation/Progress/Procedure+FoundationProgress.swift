public import Foundation

// An extension of `ProcedureProtocol`, so that a subclass may have a property of that name.
/// A procedure's work as a Foundation progress.
extension ProcedureProtocol {
  /// The finished share of the work as a Foundation progress, for a progress bar, or a larger tree.
  ///
  /// ```swift
  /// let whole = Progress(totalUnitCount: 10)
  /// whole.addChild(download.progress, withPendingUnitCount: 9)
  /// whole.addChild(show.progress, withPendingUnitCount: 1)
  /// ```
  ///
  /// Its fraction is the procedure's `fractionCompleted`; for a group that includes all
  /// descendants. `cancel()` cancels the procedure, and a cancel of the procedure cancels it.
  /// `pause()` and `resume()` of a group's progress set `isSuspended`. Setting `completedUnitCount`
  /// reports that fraction for the procedure; you may set `totalUnitCount`, a million at first, to
  /// your own count. It is limited to 1…2⁵³, and `completedUnitCount` to zero…total.
  ///
  /// It has finished before a wait for the procedure returns, even if that was cancelled or failed.
  /// It is the same object as long as a reference keeps it; it keeps the procedure. On Apple
  /// platforms it has key-value observing, and `publish()`, like any progress. On Linux any thread
  /// may change it, and Foundation has no lock there: do not change its tree while procedures in
  /// the tree run.
  public var progress: Progress { ProgressTable.progress(of: self) { ProcedureProgress(self) } }

  /// Reports the fraction of a Foundation progress from now on, for example of an operation that
  /// the procedure calls.
  ///
  /// ```swift
  /// AsyncProcedure { procedure in
  ///   let export = Export(document)
  ///   procedure.report(export.progress)
  ///   try await export.run()
  /// }
  /// ```
  ///
  /// A cancel of either cancels the other. The progress's handlers are not touched. On Apple
  /// platforms this uses key-value observing. On Linux, where Foundation reports no change, it
  /// reads the progress ten times a second until the procedure has finished; a cancel of the
  /// procedure reaches the progress at once there, too.
  public func report(_ progress: Progress) {
    let link = ProgressLink(progress, to: self)
    add(observer: ProgressLinkOwner(link))
    cancellationToken.onCancel { [weak link] in link?.cancelProgress() }
    link.begin()
  }
}

/// A queue's work as a Foundation progress.
extension ProcedureQueue {
  /// The share of finished procedures on the queue, as a Foundation progress.
  ///
  /// It counts the procedures that are unfinished when you first read it, and procedures added
  /// while a reference keeps it, one unit each. (It ignores the fractions of procedures: for those,
  /// use a group.) `cancel()` cancels all present procedures; `pause()` and `resume()` set
  /// `isSuspended`. It keeps the queue. For threads see `progress` of a procedure.
  public var progress: Progress {
    ProgressTable.progress(of: self) { ProcedureQueueProgress(self) }
  }
}

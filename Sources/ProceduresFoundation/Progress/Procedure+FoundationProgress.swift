public import Foundation

// Of `ProcedureProtocol`, so that a subclass may have a property of that name.
/// A procedure's work as a Foundation progress.
extension ProcedureProtocol {
  /// How much of the work is done, as a Foundation progress: for a progress bar, or a larger tree.
  ///
  /// ```swift
  /// let whole = Progress(totalUnitCount: 10)
  /// whole.addChild(download.progress, withPendingUnitCount: 9)
  /// whole.addChild(show.progress, withPendingUnitCount: 1)
  /// ```
  ///
  /// Its fraction is `fractionCompleted` of the procedure, a group's that of its children, however deep.
  /// `cancel()` cancels the procedure, and a cancel of the procedure cancels it. `pause()` and `resume()`
  /// of a group's set `isSuspended`. Setting `completedUnitCount` reports that fraction for the
  /// procedure; `totalUnitCount`, a million at first, may be set to what you count. It is at least 1 and at most 2⁵³, and
  /// a completed count at least zero and at most the total: other numbers become the nearest of these.
  ///
  /// It has finished before a wait for the procedure returns, also if that was cancelled or failed.
  /// The same object as long as anything keeps it; it keeps the procedure. On Apple platforms it has
  /// key-value observing, and `publish()`, as all have. On Linux it is changed on any thread, and Foundation has
  /// no lock there: do not change a tree that it is in while procedures in it run.
  public var progress: Progress { ProgressTable.progress(of: self) { ProcedureProgress(self) } }

  /// Takes over the fraction of a Foundation progress, from now on: that of what the procedure calls.
  ///
  /// ```swift
  /// AsyncProcedure { procedure in
  ///   let export = Export(document)
  ///   procedure.report(export.progress)
  ///   try await export.run()
  /// }
  /// ```
  ///
  /// A cancel of either is the other's. Its handlers are not touched. On Apple platforms by
  /// key-value observing. On Linux, where Foundation reports no change, it is read ten times a
  /// second until the procedure has finished; a cancel of the procedure reaches it at once there
  /// too.
  public func report(_ progress: Progress) {
    let link = ProgressLink(progress, to: self)
    add(observer: ProgressLinkOwner(link))
    cancellationToken.onCancel { [weak link] in link?.cancelProgress() }
    link.begin()
  }
}

/// A queue's work as a Foundation progress.
extension ProcedureQueue {
  /// How many of the procedures on the queue have finished, as a Foundation progress.
  ///
  /// Counts the procedures that are unfinished when you first ask for it, and those added while
  /// anything keeps it, one unit each. (For the fractions of procedures put what belongs together in a
  /// group.) `cancel()` cancels all that are there; `pause()` and `resume()` set `isSuspended`.
  /// It keeps the queue. For threads see `progress` of a procedure.
  public var progress: Progress {
    ProgressTable.progress(of: self) { ProcedureQueueProgress(self) }
  }
}

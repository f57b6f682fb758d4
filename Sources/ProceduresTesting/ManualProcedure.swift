public import Procedures

/// Executes until the test calls `finish()`, or, unless told otherwise, until it is cancelled.
///
/// ```swift
/// let download = ManualProcedure(name: "download")
/// upload.add(dependency: download)
/// queue.add(download, upload)
/// download.finish()
/// ```
///
/// `finish()` counts from when it has started; called earlier it is refused. To finish it from the
/// start on, await `executing(within:)` first, or run it in a `ProcedureSimulation`.
nonisolated open class ManualProcedure: Procedure, EndsByItself, @unchecked Sendable {
  private let endsWhenCancelled: Bool

  /// Makes a procedure that finishes when told.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - endsWhenCancelled: whether a cancel finishes it too.
  public init(name: String = "manual", endsWhenCancelled: Bool = true) {
    self.endsWhenCancelled = endsWhenCancelled
    super.init()
    self.name = name
  }

  /// Leaves it executing until `finish` is called.
  public final override func execute() {}

  /// Finishes, unless it was made not to.
  public final override func procedureDidCancel(withErrors errors: [any Error]) {
    if endsWhenCancelled, isExecuting { finish() }
  }
}

public import Procedures

/// Executes until the test calls `finish()`, or, by default, until it is cancelled.
///
/// ```swift
/// let download = ManualProcedure(name: "download")
/// upload.add(dependency: download)
/// queue.add(download, upload)
/// download.finish()
/// ```
///
/// `finish()` has an effect once the procedure has started; an earlier call is refused. To finish
/// it at its start, await `executing(within:)` first, or run it in a `ProcedureSimulation`.
nonisolated open class ManualProcedure: Procedure, EndsByItself, @unchecked Sendable {
  private let endsWhenCancelled: Bool

  /// Makes a procedure that the test finishes.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - endsWhenCancelled: whether a cancel finishes it too.
  public init(name: String = "manual", endsWhenCancelled: Bool = true) {
    self.endsWhenCancelled = endsWhenCancelled
    super.init()
    self.name = name
  }

  /// Leaves it executing until the test calls `finish`.
  public final override func execute() {}

  /// Finishes, unless `endsWhenCancelled` is false.
  public final override func procedureDidCancel(withErrors errors: [any Error]) {
    if endsWhenCancelled, isExecuting { finish() }
  }
}

/// A procedure that makes a value.
///
/// Name the type of the value, and finish with it; the protocol provides its storage:
///
/// ```swift
/// final class Count: Procedure, OutputProcedure, @unchecked Sendable {
///   typealias Output = Int
///
///   override func execute() {
///     finish(withResult: .success(words.count))
///   }
/// }
///
/// queue.add(count)
/// print(try await count.value)
/// ```
///
/// `any OutputProcedure<Int>` is any procedure with an `Int` as its output.
public protocol OutputProcedure<Output>: Procedure {
  /// The type of the output.
  associatedtype Output: Sendable

  /// The output; nil until it is set. A procedure that is cancelled before that sets none.
  ///
  /// If a cancelled procedure makes a value all the same, you can read it here; `value` and
  /// injections get the cancel instead.
  ///
  /// The provided property is guarded by the procedure's lock, so you may read it on any thread. It
  /// no longer changes once `finish(withResult:)` was accepted, or the procedure has finished. If
  /// you store it in a property of your own, that needs a lock of its own.
  var output: Result<Output, any Error>? { get set }
}

extension OutputProcedure {
  /// The output, guarded by the procedure's lock.
  @inlinable
  public var output: Result<Output, any Error>? {
    get { storedOutput.result(as: Output.self) }
    set { if finalOutput.isEmpty { storedOutput = newValue.map { .keeping($0) } ?? StoredValue() } }
  }

  /// Ends the procedure with its output, or with the error that kept it from making one.
  ///
  /// Like `finish(withErrors:)` it has an effect, and sets the output, only as the first finish. A
  /// group refuses it: set `output` there.
  ///
  /// - Returns: true if this was the first finish.
  @inlinable
  @discardableResult
  public func finish(withResult result: Result<Output, any Error>) -> Bool {
    finish(with: .keeping(result)) { output = result }
  }

  /// Performs the finish that `claimFinish()` has reserved.
  package func finish(claimedWith result: Result<Output, any Error>) {
    if case .failure = result { releaseClaimOfGroups() }
    _ = finish(with: .keeping(result), isClaimed: true) { output = result }
  }

  /// The output of a finished procedure, for a hand-over.
  @inlinable var result: Result<Output, any Error>? {
    // If the class stores `output` itself, it is set slightly after the finish: read the finish's
    // value first.
    finalOutput.result(as: Output.self) ?? output
  }
}

extension OutputProcedure {
  /// Waits until the procedure has finished, and returns its output.
  ///
  /// If the procedure is on no queue and in no group, the wait lasts until it is added and has
  /// finished. Cancelling the waiting task ends only the wait.
  ///
  /// ```swift
  /// resize.injectResult(from: download)
  /// do {
  ///   show(try await resize.value)
  /// } catch let error as HTTPError {  // the download's
  ///   show(error)
  /// }
  /// ```
  ///
  /// - Throws: the first error if the procedure failed or was cancelled; `CancellationError` if it
  ///   was cancelled without errors, or the waiting task was cancelled. If a dependency kept it
  ///   from running, it throws the cause, as `value` of that dependency would; `errors` has the
  ///   `ProcedureError` that names the dependency. If it finished without an output, it throws a
  ///   `ProcedureError` with code `.requirementNotSatisfied`.
  public var value: Output {
    get async throws {
      try await outcome(waitingIn: "value").get()
      return try requireOutput()
    }
  }

  func requireOutput() throws -> Output {
    guard let result else { throw lacksOutput }
    return try result.get()
  }
}

/// A procedure that makes a value.
///
/// Say what the value is, and finish with it; where it is kept comes with the protocol:
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
/// `any OutputProcedure<Int>` is a procedure of which only the type of its output is known.
public protocol OutputProcedure<Output>: Procedure {
  /// The type of the output.
  associatedtype Output: Sendable

  /// The output; nil until it is set. A procedure that is cancelled before that sets none.
  ///
  /// One that is cancelled and makes a value all the same keeps it here; what asks for it by `value`, or by
  /// injection, gets the cancel.
  ///
  /// The property that comes with the protocol is behind the procedure's lock: it may be read from
  /// any thread. It no longer changes once `finish(withResult:)` was accepted, or the procedure has
  /// finished. A stored property of your own in its place needs a lock of its own.
  var output: Result<Output, any Error>? { get set }
}

extension OutputProcedure {
  /// The output, behind the procedure's lock.
  @inlinable
  public var output: Result<Output, any Error>? {
    get { storedOutput.result(as: Output.self) }
    set { if finalOutput.isEmpty { storedOutput = newValue.map { .keeping($0) } ?? StoredValue() } }
  }

  /// Ends the procedure with its output, or with the error that kept it from making one.
  ///
  /// As `finish(withErrors:)`: the first finish counts, and the output is set together with it, or
  /// not at all. On a group it is refused: set `output` there.
  ///
  /// - Returns: true if this was the finish that counts.
  @inlinable
  @discardableResult
  public func finish(withResult result: Result<Output, any Error>) -> Bool {
    finish(with: .keeping(result)) { output = result }
  }

  /// The finish that `claimFinish()` has announced.
  package func finish(claimedWith result: Result<Output, any Error>) {
    if case .failure = result { releaseClaimOfGroups() }
    _ = finish(with: .keeping(result), isClaimed: true) { output = result }
  }

  /// The value to hand over when it has finished.
  @inlinable var result: Result<Output, any Error>? {
    // A property of the conformer's own is set a moment later than the finish.
    finalOutput.result(as: Output.self) ?? output
  }
}

extension OutputProcedure {
  /// Waits until the procedure has finished, and returns its output.
  ///
  /// It must be on a queue or in a group, or this waits until it is. Cancelling the waiting task
  /// ends only the wait.
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
  /// - Throws: the first error of a procedure that failed or was cancelled; `CancellationError` if
  ///   it was cancelled without one, or the waiting task was. If a dependency kept it from running,
  ///   it throws the cause, as `value` of that dependency would; `errors` has the
  ///   `ProcedureError` that names the dependency. If it finished without an output, a
  ///   `ProcedureError` with code `.requirementNotSatisfied`.
  public var value: Output {
    get async throws {
      try await outcome(waitingIn: "value").get()
      return try requireOutput()
    }
  }

  /// The output of a procedure that has succeeded.
  func requireOutput() throws -> Output {
    guard let result else { throw ProcedureError(.requirementNotSatisfied, of: name) }
    return try result.get()
  }
}

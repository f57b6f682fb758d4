internal import ProcedurePrimitives

/// A condition that answers in a callback, for interfaces with completion handlers.
///
/// ```swift
/// record.add(condition: AnswerCondition { procedure, answer in
///   microphone.requestAccess { isGranted in answer(isGranted ? .satisfied : .ignored) }
/// })
/// ```
///
/// Only the first answer has an effect. If the answer object is released without a call, the
/// condition fails with `ProcedureError.Code.conditionFailed`.
public struct AnswerCondition: Condition {
  private let block: @Sendable (Procedure, ConditionAnswer) -> Void

  /// Makes a condition from a closure that calls `answer`, at once or later, on any thread.
  public init(
    _ block: @escaping @Sendable (_ procedure: Procedure, _ answer: ConditionAnswer) -> Void
  ) {
    self.block = block
  }

  /// Calls the closure, and awaits its answer. Returns early if the waiting task is cancelled.
  public func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    let receiver = AnswerReceiver()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        receiver.wait(continuation)
        block(procedure, ConditionAnswer(receiver, of: name, for: procedure.name))
      }
    } onCancel: {
      receiver.receive(.failed(CancellationError()))
    }
  }
}

/// Receives the answer of a condition. You call it like a function, from any thread.
public final class ConditionAnswer: Sendable {
  private let receiver: AnswerReceiver
  private let condition: String
  private let procedure: String

  fileprivate init(_ receiver: AnswerReceiver, of condition: String, for procedure: String) {
    self.receiver = receiver
    self.condition = condition
    self.procedure = procedure
  }

  deinit {
    let error = ProcedureError(
      .conditionFailed, of: procedure, because: [UnansweredError()], .condition(condition))
    receiver.receive(.failed(error))
  }

  /// Answers with `result`. Only the first answer counts.
  public func callAsFunction(_ result: ConditionResult) {
    receiver.receive(result)
  }
}

private struct UnansweredError: Error, CustomStringConvertible {
  var description: String { "its answer was released without being called" }
}

/// Hands the first answer to the task that waits for it.
private final class AnswerReceiver: Sendable {
  private enum AnswerStage: Sendable {
    case open(CheckedContinuation<ConditionResult, Never>?)
    /// Holds an answer that came before the task waited, until the task takes it.
    case answered(ConditionResult?)
  }

  private let stage = Locked(AnswerStage.open(nil))

  func wait(_ continuation: CheckedContinuation<ConditionResult, Never>) {
    let early: ConditionResult? = stage.withLock { stage in
      guard case .answered(let result) = stage else {
        stage = .open(continuation)
        return nil
      }
      stage = .answered(nil)
      return result
    }
    if let early { continuation.resume(returning: early) }
  }

  func receive(_ result: ConditionResult) {
    let waiting: CheckedContinuation<ConditionResult, Never>? = stage.withLock { stage in
      guard case .open(let waiting) = stage else { return nil }
      stage = .answered(waiting == nil ? result : nil)
      return waiting
    }
    waiting?.resume(returning: result)
  }
}

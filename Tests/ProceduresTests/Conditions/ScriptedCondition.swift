import Procedures
import ProcedureTestSupport

/// How a scripted condition answers.
enum Form: CaseIterable, Sendable {
  case atOnce
  case awaited
  case calledBack
}

/// What a scripted condition answers.
enum Verdict: CaseIterable, Sendable {
  case satisfied
  case ignored
  case failed
  case thrown

  /// As an answer; errors are named after the condition.
  func result(_ name: String) throws -> ConditionResult {
    switch self {
    case .satisfied: .satisfied
    case .ignored: .ignored
    case .failed: .failed(TestError(name))
    case .thrown: throw TestError(name)
    }
  }

  var fails: Bool { self == .failed || self == .thrown }

  /// How a procedure ends whose only condition, of that name, says this.
  func outcome(_ name: String) -> ProcedureOutcome {
    switch self {
    case .satisfied: .succeeded
    case .ignored: .cancelled([])
    case .failed, .thrown: .cancelled([TestError(name)])
    }
  }
}

/// Answers as the script says, and notes that it was asked.
func scripted(
  _ name: String, _ verdict: Verdict = .satisfied, _ form: Form = .atOnce,
  _ trace: Recorder<String> = Recorder()
) -> any Condition {
  switch form {
  case .atOnce: AtOnce(name: name, verdict: verdict, trace: trace)
  case .awaited: Awaited(name: name, verdict: verdict, trace: trace)
  case .calledBack:
    AnswerCondition { _, answer in
      trace.note(name)
      answer((try? verdict.result(name)) ?? .failed(TestError(name)))
    }
  }
}

private struct AtOnce: SynchronousCondition {
  let name: String
  let verdict: Verdict
  let trace: Recorder<String>

  func evaluate(_ procedure: Procedure) throws -> ConditionResult {
    trace.note(name)
    return try verdict.result(name)
  }
}

private struct Awaited: Condition {
  let name: String
  let verdict: Verdict
  let trace: Recorder<String>

  func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    trace.note(name)
    await Task.yield()
    return try verdict.result(name)
  }
}

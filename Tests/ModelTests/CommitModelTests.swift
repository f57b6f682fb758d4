#if MODEL
  import Procedures
  import ProcedureTestSupport
  import Testing

  /// The one decision between a commit, which nothing undoes, and a cancel; and the groups that end
  /// with it.
  @Suite(.serialized, .hangLimit) struct CommitModelTests {
    /// The test claims its finish, or lets a cancel finish it.
    private final class Attempt: Procedure, OutputProcedure, @unchecked Sendable {
      typealias Output = Int
      private let endsWhenCancelled: Bool
      let committed = PlainCounter()

      init(endsWhenCancelled: Bool = false) { self.endsWhenCancelled = endsWhenCancelled }

      override func execute() {}
      override func procedureDidCancel(withErrors errors: [any Error]) {
        if endsWhenCancelled { finish() }
      }

      /// As a download does: nothing is replaced without the claim.
      func commit(as result: Result<Int, any Error> = .success(1)) {
        guard claimFinish(isCommitting: true) else {
          finish()
          return
        }
        committed.value += 1
        finish(claimedWith: result)
      }
    }

    private static func check(_ attempt: Attempt, in whole: Procedure, cancelled: Bool) throws {
      try require(attempt.isFinished && whole.isFinished, "not finished: \(attempt), \(whole)")
      let isCommitted = attempt.committed.value == 1
      try require(isCommitted != cancelled, "committed: \(isCommitted), cancelled: \(cancelled)")
      let outcome: ProcedureOutcome = isCommitted ? .succeeded : .cancelled([])
      try require(
        whole.outcome == outcome && attempt.outcome == outcome,
        "committed: \(isCommitted), and the outcome is \(String(describing: whole.outcome))")
      try require((attempt.output != nil) == isCommitted, "the output is not that of the commit")
    }

    @Test("C5, I4: a commit against a cancel: it was first and succeeds, or it does not happen")
    func alone() throws {
      try explore(onQueue: { model in
        let (attempt, cancelled) = (Attempt(), PlainCounter())
        model.start(attempt)
        return model.scenario(threads: [
          { attempt.commit() }, { if attempt.cancel(withErrors: []) { cancelled.value += 1 } },
        ]) { try Self.check(attempt, in: attempt, cancelled: cancelled.value == 1) }
      })
    }

    @Test("C5, I4: a commit inside of two wrappers against a cancel of the outer one")
    func wrapped() throws {
      try explore(onQueue: { model in
        let (attempt, cancelled) = (Attempt(), PlainCounter())
        let whole = ComposedProcedure(ComposedProcedure(attempt))
        model.start(whole)
        return model.scenario(threads: [
          { attempt.commit() }, { if whole.cancel(withErrors: []) { cancelled.value += 1 } },
        ]) { try Self.check(attempt, in: whole, cancelled: cancelled.value == 1) }
      })
    }

    @Test("C5, I4: a commit that fails against a cancel of the retry: there is no attempt after it")
    func failing() throws {
      try explore(onQueue: { model in
        let (first, cancelled) = (Attempt(), PlainCounter())
        let attempts = PlainLog<Attempt>()
        let retry = RetryProcedure(max: 2, wait: .immediate) {
          attempts.events.append(attempts.events.isEmpty ? first : Attempt(endsWhenCancelled: true))
          return attempts.events[attempts.events.count - 1]
        }
        model.start(retry)
        return model.scenario(threads: [
          { first.commit(as: .failure(TestError("full"))) },
          { if retry.cancel(withErrors: []) { cancelled.value += 1 } },
        ]) {
          try require(retry.isFinished, "an attempt after a cancel, which nothing ends")
          try require(retry.isCancelled == (cancelled.value == 1), "\(retry)")
          try require(
            retry.isCancelled || retry.outcome == .failed([TestError("full")]), "\(retry)")
        }
      })
    }

    @Test("C5, I4: a wrapper that gets another child while the first commits can be cancelled")
    func anotherChild() throws {
      try explore(onQueue: { model in
        let (attempt, other) = (Attempt(), PlainProcedure.lasting())
        let whole = ComposedProcedure(ComposedProcedure(attempt))
        let isAdded = PlainCounter()
        model.start(whole)
        return model.scenario(threads: [
          { attempt.commit() },
          {
            if whole.procedure.add(child: other) { isAdded.value += 1 }
            whole.cancel()
          },
        ]) {
          try require(whole.isFinished, "the group with another child was not cancelled")
          try other.checkLife()
          try require(isAdded.value == 0 || whole.isCancelled, "\(whole)")
          try require(attempt.isCancelled != (attempt.committed.value == 1), "\(attempt)")
        }
      })
    }
  }
#endif

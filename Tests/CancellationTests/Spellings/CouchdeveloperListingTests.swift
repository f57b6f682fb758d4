import Cancellation
import ProcedureTestSupport
import Testing

// What the listings of couchdeveloper's Cancellation do. As they are written, without `any`, which
// this package's own settings ask for, they are in `AsWrittenTests`.

/// AND-ing two tokens, as its README does it.
private func and(left: any CancellationTokenType, right: any CancellationTokenType)
  -> any CancellationTokenType
{
  return left.flatMap {
    //  executes only when left has been cancelled.
    right.map {
      // executes only when right has been cancelled.
      true  // completes the returned token with true (cancelled)
    }
  }
}

/// A function that starts an asynchronous task.
private func task(
  param: Int, cancellationToken: any CancellationTokenType,
  completion: @escaping @Sendable (Int?, (any Error)?) -> Void
) {
  cancellationToken.onCancel { completion(nil, CancellationError()) }
  if cancellationToken.isCompleted && !cancellationToken.isCancelled { completion(param, nil) }
}

@Suite(.hangLimit) struct CouchdeveloperListingTests {
  @Test("K14: a request's token is given to a task, which polls it or registers a handler")
  func request() {
    let results = Recorder<String>()
    let cr = CancellationRequest()
    task(param: 1, cancellationToken: cr.token) { (result, error) in
      results.note("\(result ?? 0), \(error is CancellationError)")
    }
    #expect(results.events.isEmpty)
    cr.cancel()
    task(param: 2, cancellationToken: CancellationTokenNone()) { (result, error) in
      results.note("\(result ?? 0), \(error is CancellationError)")
    }
    #expect(results.events == ["0, true", "2, false"])
  }

  @Test("K14: the members of the protocol work on a token and on none")
  func members() {
    let request = CancellationRequest()
    let calls = Recorder<String>()
    let tokens: [(String, any CancellationTokenType)] = [
      ("token", request.token), ("none", CancellationTokenNone()),
    ]
    for (name, token) in tokens {
      #expect(!token.isCancelled && token.isCompleted == (name == "none"))
      token.onCancel { calls.note("\(name) cancelled") }
      token.onComplete { cancelled in calls.note("\(name) completed \(cancelled)") }
      token.map { true }.onCancel { calls.note("\(name) mapped") }
      token.map { false }.onComplete { calls.note("\(name) not mapped \($0)") }
      token.flatMap { request.token }.onCancel { calls.note("\(name) flat mapped") }
      token.flatMap { CancellationTokenNone() }.onComplete { calls.note("\(name) none \($0)") }
    }
    #expect(calls.events == ["none completed false", "none not mapped false", "none none false"])
    request.cancel()
    #expect(
      calls.events.dropFirst(3) == [
        "token cancelled", "token completed true", "token mapped", "token not mapped false",
        "token flat mapped", "token none false",
      ])
    // The types that say so by themselves.
    let none = CancellationTokenNone()
    #expect(!none.isCancelled && none.isCompleted && none.map { true }.isCompleted)
    #expect(none.flatMap { request.token }.isCompleted)
    none.onComplete { calls.note("last \($0)") }
    none.onCancel { Issue.record("called") }
    #expect(calls.events.last == "last false")
  }

  @Test("K14: tokens of the protocol are combined, by its own && too")
  func operators() {
    let (first, second) = (CancellationRequest(), CancellationRequest())
    let (left, right): (any CancellationTokenType, any CancellationTokenType) = (
      first.token, second.token
    )
    let none = CancellationTokenNone()
    let either: any CancellationTokenType = left || right
    let both: any CancellationTokenType = left && right
    let composed = and(left: left, right: right)
    let (alone, never) = (left || none, right && none)
    let mixed = first.token || none
    first.cancel()
    #expect(either.isCancelled && alone.isCancelled && mixed.isCancelled && !both.isCompleted)
    #expect(never.isCompleted && !never.isCancelled && !composed.isCompleted)
    second.cancel()
    #expect(both.isCancelled && composed.isCancelled)
    #expect((none || none).isCompleted && !(none && none).isCancelled)
  }
}

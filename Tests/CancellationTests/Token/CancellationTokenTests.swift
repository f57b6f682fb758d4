import Cancellation
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct CancellationTokenTests {
  struct Failure: Error, Equatable { let code: Int }

  // MARK: K1

  @Test("K1: a new source is pending; cancel is seen by every copy of its token, old and new")
  func cancelIsSeen() {
    let source = CancellationTokenSource()
    let early = source.token
    #expect(!source.isCancelled && !early.isCancelled && !early.isCompleted)
    #expect(early.reason == nil)
    source.cancel()
    let late = source.token
    for token in [early, late] { #expect(token.isCancelled && token.isCompleted) }
    #expect(source.isCancelled)
    #expect(early == late && early.hashValue == late.hashValue)
  }

  @Test("K1: a token completes not cancelled when its source is released, and stays so")
  func sourceDies() {
    var source: CancellationTokenSource? = CancellationTokenSource()
    let token = source!.token
    source = nil
    #expect(token.isCompleted && !token.isCancelled)
    #expect(token.reason == nil)
  }

  @Test("K1: the token does not keep its source, a handler that captures the token neither")
  func ownership() {
    weak var weakSource: CancellationTokenSource?
    var token = CancellationToken.never
    do {
      let source = CancellationTokenSource()
      weakSource = source
      token = source.token
      token.onCancel { [token] in _ = token }
    }
    #expect(weakSource == nil)
    #expect(token.isCompleted)
  }

  @Test("K1: the first cancel wins and its reason stays")
  func firstReason() {
    let source = CancellationTokenSource()
    #expect(source.cancel(.failure(Failure(code: 7))))
    #expect(!source.cancel(.taskCancelled))
    source.cancel()
    guard case .failure(let error)? = source.token.reason else {
      Issue.record("the reason changed")
      return
    }
    #expect(error as? Failure == Failure(code: 7))
  }

  @Test("K1: tokens of two sources differ, tokens are keys of dictionaries, never equals never")
  func identity() {
    let (first, second) = (CancellationTokenSource(), CancellationTokenSource())
    #expect(first.token != second.token)
    #expect(CancellationToken.never == .never && CancellationToken.never != .cancelled)
    let names = [first.token: "first", second.token: "second", .never: "never"]
    #expect(names[second.token] == "second" && names[.never] == "never")
  }

  @Test("K1: the description names the state and the reason")
  func description() {
    let source = CancellationTokenSource()
    #expect("\(source.token)" == "CancellationToken(pending)")
    #expect("\(source)" == "CancellationTokenSource(pending)")
    source.cancel(.deadlineExceeded)
    #expect("\(source.token)" == "CancellationToken(cancelled: deadline exceeded)")
    #expect("\(CancellationToken.never)" == "CancellationToken(not cancelled)")
    #expect("\(CancellationToken.cancelled)" == "CancellationToken(cancelled: requested)")
    #expect("\(CancellationReason.failure(Failure(code: 1)))".hasPrefix("failure: "))
    #expect("\(CancellationReason.taskCancelled)" == "task cancelled")
  }

  @Test("K1: checkCancellation throws Swift's own error, only when cancelled")
  func check() throws {
    let source = CancellationTokenSource()
    try source.token.checkCancellation()
    try CancellationToken.never.checkCancellation()
    source.cancel()
    #expect(throws: CancellationError.self) { try source.token.checkCancellation() }
  }

  // MARK: K2

  @Test("K2: a token is one word; never is settled and keeps nothing")
  func never() {
    #expect(MemoryLayout<CancellationToken>.size == MemoryLayout<Int>.size)
    let token = CancellationToken.never
    #expect(!token.isCancelled && token.isCompleted)
    #expect(token.reason == nil)
    let probe = Probe()
    token.onCancel { [instance = probe.instance()] in _ = instance }
    let registration = token.register(probe.target())
    #expect(probe.living == 0)
    #expect(!registration.remove())
    let recorder = Recorder<Bool>()
    token.onComplete { recorder.note($0) }
    #expect(recorder.events == [false])
  }

  @Test("K2: CancellationToken.cancelled is cancelled from the beginning")
  func cancelled() {
    let token = CancellationToken.cancelled
    #expect(token.isCancelled && token.isCompleted)
    let counter = Counter()
    token.onCancel { counter.increment() }
    #expect(counter.value == 1)
  }

  // MARK: K4

  @Test("K4: onComplete is called in both ends", arguments: [true, false])
  func onComplete(cancelled: Bool) {
    let recorder = Recorder<Bool>()
    var source: CancellationTokenSource? = CancellationTokenSource()
    let token = source!.token
    token.onComplete { recorder.note($0) }
    if cancelled { source?.cancel() }
    source = nil
    token.onComplete { recorder.note($0) }
    #expect(recorder.events == [cancelled, cancelled])
  }

  @Test("K4: onCancel handlers are skipped when the source goes, onComplete's are called in order")
  func sourceDiesWithHandlers() {
    let recorder = Recorder<String>()
    do {
      let source = CancellationTokenSource()
      source.token.onComplete { recorder.note("first \($0)") }
      source.token.onCancel { recorder.note("cancel") }
      source.token.onComplete { recorder.note("second \($0)") }
    }
    #expect(recorder.events == ["first false", "second false"])
  }
}

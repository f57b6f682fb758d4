import Cancellation
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct SharedCancellationTests {
  private let viewers = SharedCancellation()

  @Test("K15: its token is cancelled with the last member, and has that one's reason")
  func lastLeaves() {
    let sources = (0..<3).map { _ in CancellationTokenSource() }
    let calls = Counter()
    viewers.token.onCancel { calls.increment() }
    for source in sources { #expect(viewers.join(until: source.token)) }
    sources[1].cancel()
    sources[0].cancel(.deadlineExceeded)
    #expect(viewers.count == 1 && !viewers.token.isCompleted)
    sources[2].cancel(.taskCancelled)
    #expect(viewers.token.isCancelled && viewers.token.reason == .taskCancelled)
    #expect(calls.value == 1 && viewers.count == 0)
  }

  @Test(
    "K15: the shared token is pending before the first has joined, and while members come and go")
  func comingAndGoing() {
    #expect(!viewers.token.isCompleted && viewers.count == 0)
    var last = CancellationTokenSource()
    viewers.join(until: last.token)
    for _ in 0..<1_000 {
      let next = CancellationTokenSource()
      viewers.join(until: next.token)
      last.cancel()
      #expect(!viewers.token.isCompleted && viewers.count == 1)
      last = next
    }
    last.cancel()
    #expect(viewers.token.isCancelled)
  }

  @Test("K15: nobody joins when the last has left, not from its handlers either")
  func tooLate() {
    let (source, answers) = (CancellationTokenSource(), Recorder<Bool>())
    viewers.token.onCancel { [viewers, answers] in
      answers.note(viewers.join(until: .never))
    }
    viewers.join(until: source.token)
    source.cancel()
    #expect(answers.events == [false])
    #expect(!viewers.join(until: CancellationTokenSource().token) && viewers.count == 0)
  }

  @Test(
    "K15: a token that was cancelled before joins and leaves: alone it cancels, among others it does not"
  )
  func cancelledBefore() {
    let source = CancellationTokenSource()
    let shared = SharedCancellation()
    shared.join(until: source.token)
    shared.join(until: .cancelled)
    #expect(!shared.token.isCompleted && shared.count == 1)
    #expect(viewers.join(until: .cancelled))
    #expect(viewers.token.isCancelled && viewers.token.reason == .requested)
  }

  @Test("K15: one that can never be cancelled never leaves", arguments: [false, true])
  func never(isReleased: Bool) {
    var source: CancellationTokenSource? = CancellationTokenSource()
    let other = CancellationTokenSource()
    viewers.join(until: other.token)
    viewers.join(until: isReleased ? source!.token : .never)
    source = nil
    #expect(viewers.token.isCompleted && !viewers.token.isCancelled && viewers.count == 0)
    other.cancel()
    #expect(!viewers.token.isCancelled)
    #expect(viewers.join(until: .never))
  }

  @Test(
    "K15, K1: when it is released its token completes not cancelled, and the members' handlers go")
  func released() {
    let (source, isReleased) = (CancellationTokenSource(), Gate())
    var shared: SharedCancellation? = SharedCancellation()
    let token = shared!.token
    let tracker = Tracker { isReleased.open() }
    token.onCancel { _ = tracker }
    shared!.join(until: source.token)
    shared = nil
    #expect(token.isCompleted && !token.isCancelled)
    source.cancel()
    #expect(!token.isCancelled)
  }

  @Test("K15: one token may join twice, and leaves twice")
  func twice() {
    let source = CancellationTokenSource()
    viewers.join(until: source.token)
    viewers.join(until: source.token)
    #expect(viewers.count == 2)
    source.cancel()
    #expect(viewers.token.isCancelled)
  }

  @Test(
    "K15: who joins while the last leaves shares a token that is not cancelled, or does not join")
  func joiningAgainstLeaving() {
    for _ in 0..<Rounds.few * 20 {
      let shared = SharedCancellation()
      let (first, second) = (CancellationTokenSource(), CancellationTokenSource())
      let joined = Locked(false)
      shared.join(until: first.token)
      raceOnThreads(
        { first.cancel() },
        {
          let answer = shared.join(until: second.token)
          joined.withLock { $0 = answer }
        })
      let isMember = joined.withLock { $0 }
      #expect(shared.token.isCancelled != isMember)
      second.cancel()
      #expect(shared.token.isCancelled)
    }
  }

  @Test(
    "K15: members that leave at one moment cancel once, and one that joins meanwhile is not lost")
  func leavingAtOnce() {
    for _ in 0..<Rounds.few * 20 {
      let (shared, calls) = (SharedCancellation(), Counter())
      shared.token.onCancel { calls.increment() }
      let sources = (0..<3).map { _ in CancellationTokenSource() }
      for source in sources.dropLast() { shared.join(until: source.token) }
      raceOnThreads(
        { sources[0].cancel() }, { sources[1].cancel() },
        { shared.join(until: sources[2].token) }, { sources[2].cancel() })
      #expect(calls.value == 1 && shared.count == 0)
    }
  }

  #if canImport(Glibc)
    @Test("K15, K8: a million that one token has joined, and that have gone, leave its memory flat")
    func memory() async {
      await #expect(processExitsWith: .success) {
        let (source, count) = (CancellationTokenSource(), Rounds.size(1_000_000, otherwise: 20_000))
        func share() {
          let shared = SharedCancellation()
          shared.join(until: source.token)
        }
        for _ in 0..<count { share() }
        let growth = LiveBytes.growth { for _ in 0..<count { share() } }
        let lasting = SharedCancellation()
        lasting.join(until: source.token)
        func visit() {
          let visitor = CancellationTokenSource()
          lasting.join(until: visitor.token)
          visitor.cancel()
        }
        for _ in 0..<count { visit() }
        let visits = LiveBytes.growth { for _ in 0..<count { visit() } }
        let most = max(count, 16 * 1_024)
        precondition(growth < most && visits < most, "\(growth), \(visits)")
        precondition(lasting.count == 1)
      }
    }
  #endif
}

import Cancellation
import ProcedureTestSupport
import Testing

/// K9: `map` and `flatMap`; and chains of all derived tokens, however long.
@Suite(.hangLimit) struct DerivedTokenTests {
  @Test("K9: map calls its closure once, when cancelled, and follows its answer")
  func map() {
    for (answer, isLate) in [(true, false), (false, false), (true, true), (false, true)] {
      let (source, calls) = (CancellationTokenSource(), Counter())
      if isLate { source.cancel(.taskCancelled) }
      let mapped = source.token.map {
        calls.increment()
        return answer
      }
      #expect(calls.value == (isLate ? 1 : 0))
      source.cancel(.taskCancelled)
      #expect(mapped.isCompleted && mapped.isCancelled == answer && calls.value == 1)
      #expect(mapped.reason == (answer ? .taskCancelled : nil))
    }
  }

  @Test("K9: map and flatMap of a token that is not cancelled are not, and never call the closure")
  func notCancelled() {
    let probe = Probe()
    for isLate in [false, true] {
      var source: CancellationTokenSource? = CancellationTokenSource()
      let token = source!.token
      if isLate { source = nil }
      let mapped = token.map { [instance = probe.instance()] in
        Issue.record("called \(instance)")
        return true
      }
      let flatMapped = token.flatMap { [instance = probe.instance()] in
        Issue.record("called \(instance)")
        return .cancelled
      }
      source = nil
      #expect(mapped.isCompleted && !mapped.isCancelled)
      #expect(flatMapped.isCompleted && !flatMapped.isCancelled)
      #expect(probe.living == 0)
    }
    #expect(CancellationToken.never.map { true } == .never)
    #expect(CancellationToken.never.flatMap { .cancelled } == .never)
  }

  @Test("K9: flatMap follows the returned token to its end, with its reason")
  func flatMap() {
    for isLate in [false, true] {
      for end in CombinatorTests.End.allCases {
        let (source, calls) = (CancellationTokenSource(), Counter())
        let inner = CombinatorTests.Operand()
        if isLate { source.cancel() }
        let result = source.token.flatMap { [token = inner.token] in
          calls.increment()
          return token
        }
        source.cancel()
        #expect(!result.isCompleted && calls.value == 1)
        inner.settle(end, .deadlineExceeded)
        #expect(CombinatorTests.end(result) == end)
        if end == .cancelled { #expect(result.reason == .deadlineExceeded) }
      }
    }
  }

  @Test("K9: flatMap to a token that has already ended ends at once")
  func flatMapToSettled() {
    let inner = CancellationTokenSource()
    inner.cancel(.taskCancelled)
    for isLate in [false, true] {
      let source = CancellationTokenSource()
      if isLate { source.cancel() }
      let cancelled = source.token.flatMap { inner.token }
      let dead = source.token.flatMap { CancellationTokenSource().token }
      let never = source.token.flatMap { .never }
      source.cancel()
      #expect(cancelled.reason == .taskCancelled)
      for token in [dead, never] { #expect(token.isCompleted && !token.isCancelled) }
    }
  }

  @Test("K9: the laws: map { true } and flatMap { .cancelled } change nothing, && is a flatMap")
  func laws() {
    let (left, right) = (CancellationTokenSource(), CancellationTokenSource())
    let same = [left.token.map { true }, left.token.flatMap { .cancelled }]
    let both = left.token.flatMap { right.token }
    let reference = left.token && right.token
    left.cancel()
    #expect(same.allSatisfy { $0.isCancelled })
    #expect(!both.isCompleted && !reference.isCompleted)
    right.cancel()
    #expect(both.isCancelled && reference.isCancelled)
  }

  @Test("K9: a closure of map or flatMap may derive tokens, and cancel")
  func reentrancy() {
    let (source, other) = (CancellationTokenSource(), CancellationTokenSource())
    let slot = Slot<CancellationToken>()
    let result = source.token.flatMap {
      other.cancel()
      let inner = source.token.map { other.isCancelled }
      slot.value = inner
      return inner
    }
    source.cancel()
    #expect(result.isCancelled && slot.value?.isCancelled == true)
  }

  enum Link: CaseIterable { case or, and, map, flatMap, mixed }

  /// On a stack of half a megabyte, so that frames of a hundred bytes would overflow it.
  static let length = Rounds.size(100_000, otherwise: 1_500)

  static func derive(
    _ token: CancellationToken, _ other: CancellationToken, _ link: Link, _ index: Int
  ) -> CancellationToken {
    switch link {
    case .or: token || other
    case .and: token && other
    case .map: token.map { true }
    case .flatMap: token.flatMap { token }
    case .mixed: derive(token, other, [.or, .map, .and, .flatMap][index % 4], index)
    }
  }

  @Test(
    "K9: a long chain of derived tokens is cancelled without recursion", arguments: Link.allCases)
  func deepCancel(link: Link) async {
    await onSmallStack {
      for handlers in [false, true] { Self.cancelChain(of: link, handlers: handlers) }
    }
  }

  private static func cancelChain(of link: Link, handlers: Bool) {
    let (root, other) = (CancellationTokenSource(), CancellationTokenSource())
    let calls = Counter()
    var token = root.token
    for index in 0..<length {
      token = derive(token, other.token, link, index)
      if handlers, index % 10 == 0 { token.onCancel { calls.increment() } }
    }
    if link == .and || link == .mixed { other.cancel() }
    root.cancel()
    #expect(token.isCancelled)
    #expect(calls.value == (handlers ? length / 10 : 0))
  }

  @Test(
    "K9: a long chain of derived tokens completes uncancelled without recursion",
    arguments: Link.allCases)
  func deepCompletion(link: Link) async {
    await onSmallStack { Self.completeChain(of: link) }
  }

  private static func completeChain(of link: Link) {
    var (root, other): (CancellationTokenSource?, CancellationTokenSource?) = (.init(), .init())
    var token = root!.token
    for index in 0..<length { token = derive(token, other!.token, link, index) }
    let calls = Counter()
    token.onComplete { cancelled in if !cancelled { calls.increment() } }
    other = nil
    root = nil
    #expect(token.isCompleted && !token.isCancelled && calls.value == 1)
  }

  @Test(
    "K9: a long chain of derived tokens is released without recursion", arguments: Link.allCases)
  func deepRelease(link: Link) async {
    await onSmallStack { Self.releaseChain(of: link) }
  }

  private static func releaseChain(of link: Link) {
    let (root, other) = (CancellationTokenSource(), CancellationTokenSource())
    var token = root.token
    for index in 0..<length { token = derive(token, other.token, link, index) }
    #expect(!token.isCompleted)
    token = .never
    // A chain that a linked source holds.
    token = root.token
    for index in 0..<length { token = derive(token, other.token, link, index) }
    var child: CancellationTokenSource? = CancellationTokenSource(linkedTo: token)
    token = .never
    child?.cancel()
    child = nil
    #expect(!root.isCancelled && token == .never)
  }
}

import Cancellation
import ProcedureTestSupport
import Testing

/// K9: `||`, `&&` and their n-ary forms, against the truth tables.
@Suite(.hangLimit) struct CombinatorTests {
  enum End: Sendable, CaseIterable { case pending, cancelled, notCancelled }

  /// A token that has ended so, or will when told.
  final class Operand {
    private(set) var source: CancellationTokenSource? = CancellationTokenSource()
    let token: CancellationToken

    init() { token = source!.token }

    func settle(_ end: End, _ reason: CancellationReason = .requested) {
      switch end {
      case .pending: break
      case .cancelled: source?.cancel(reason)
      case .notCancelled: source = nil
      }
    }
  }

  static func end(_ token: CancellationToken) -> End {
    token.isCancelled ? .cancelled : token.isCompleted ? .notCancelled : .pending
  }

  static func or(_ ends: [End]) -> End {
    if ends.contains(.cancelled) { return .cancelled }
    return ends.contains(.pending) ? .pending : .notCancelled
  }

  static func and(_ ends: [End]) -> End {
    if ends.contains(.notCancelled) { return .notCancelled }
    return ends.contains(.pending) ? .pending : .cancelled
  }

  static let pairs = End.allCases.flatMap { left in End.allCases.map { [left, $0] } }
  static let triples = pairs.flatMap { pair in End.allCases.map { pair + [$0] } }

  @Test("K9: || and && follow operands that have settled before", arguments: pairs)
  func tableBefore(ends: [End]) {
    let operands = ends.map { _ in Operand() }
    for (operand, end) in zip(operands, ends) { operand.settle(end) }
    let (left, right) = (operands[0].token, operands[1].token)
    #expect(Self.end(left || right) == Self.or(ends))
    #expect(Self.end(left && right) == Self.and(ends))
    #expect(Self.end(.any(of: left, right)) == Self.or(ends))
    #expect(Self.end(.all(of: left, right)) == Self.and(ends))
    withExtendedLifetime(operands) {}
  }

  @Test("K9: || and && follow operands that settle later, in either order", arguments: pairs)
  func tableAfter(ends: [End]) {
    for order in [[0, 1], [1, 0]] {
      let operands = ends.map { _ in Operand() }
      let (left, right) = (operands[0].token, operands[1].token)
      let (either, both) = (left || right, left && right)
      let recorder = Recorder<Bool>()
      either.onComplete { recorder.note($0) }
      both.onComplete { recorder.note($0) }
      #expect(Self.end(either) == .pending && Self.end(both) == .pending)
      var sofar = [End.pending, .pending]
      for index in order {
        operands[index].settle(ends[index])
        sofar[index] = ends[index]
        #expect(Self.end(either) == Self.or(sofar))
        #expect(Self.end(both) == Self.and(sofar))
      }
      let settled = [Self.or(ends), Self.and(ends)].filter { $0 != .pending }
      #expect(recorder.events.count == settled.count)
      #expect(recorder.events.filter { $0 }.count == settled.filter { $0 == .cancelled }.count)
      withExtendedLifetime(operands) {}
    }
  }

  @Test(
    "K9: chained and n-ary forms of three operands agree, before and after they settle",
    arguments: triples)
  func threeWay(ends: [End]) {
    for settlesBefore in [true, false] {
      let operands = ends.map { _ in Operand() }
      func settle() { for (operand, end) in zip(operands, ends) { operand.settle(end) } }
      if settlesBefore { settle() }
      let tokens = operands.map(\.token)
      let either = [tokens[0] || tokens[1] || tokens[2], .any(of: tokens)]
      let both = [tokens[0] && tokens[1] && tokens[2], .all(of: tokens)]
      if !settlesBefore { settle() }
      for token in either { #expect(Self.end(token) == Self.or(ends)) }
      for token in both { #expect(Self.end(token) == Self.and(ends)) }
      withExtendedLifetime(operands) {}
    }
  }

  @Test("K9: identities return the operand itself")
  func identities() {
    let pending = CancellationTokenSource()
    let cancelled = CancellationTokenSource()
    cancelled.cancel(.taskCancelled)
    for token in [pending.token, cancelled.token, CancellationTokenSource().token, .never] {
      #expect((.never || token) == token && (token || token) == token)
      #expect((token && token) == token && (.cancelled && token) == token)
      #expect(CancellationToken.any(of: token) == token && .all(of: token) == token)
      #expect(CancellationToken.any(of: token, token) == token)
    }
    let token = pending.token
    #expect((token || .never) == token && (token && .cancelled) == token)
    #expect((.never && token) == .never && (token && .never) == .never)
    #expect((.cancelled || token) == .cancelled && (token || cancelled.token) == cancelled.token)
    #expect(CancellationToken.any(of: .never, token, .never) == token)
    #expect(CancellationToken.all(of: .cancelled, token) == token)
    #expect(CancellationToken.any() == .never && CancellationToken.all() == .cancelled)
  }

  #if canImport(Glibc) && !TSAN
    @Test("K9: identities allocate nothing")
    func identitiesAllocateNothing() async {
      await #expect(processExitsWith: .success) {
        let source = CancellationTokenSource()
        let (token, never, cancelled) = (
          source.token, CancellationToken.never, CancellationToken.cancelled
        )
        var kept: [CancellationToken] = []
        kept.reserveCapacity(60_000)
        let growth = LiveBytes.growth {
          for _ in 0..<10_000 {
            kept.append(never || token)
            kept.append(token || never)
            kept.append(token || token)
            kept.append(cancelled && token)
            kept.append(never && token)
            kept.append(token || cancelled)
          }
        }
        precondition(growth < 4_096 && kept.count == 60_000, "grew by \(growth)")
      }
    }
  #endif

  @Test("K9: the reason comes from the token that decided")
  func reasons() {
    let operands = (0..<3).map { _ in Operand() }
    let tokens = operands.map(\.token)
    let (either, all) = (CancellationToken.any(of: tokens), CancellationToken.all(of: tokens))
    operands[1].settle(.cancelled, .taskCancelled)
    operands[2].settle(.cancelled, .requested)
    #expect(either.reason == .taskCancelled)
    #expect(all.reason == nil)
    operands[0].settle(.cancelled, .deadlineExceeded)
    #expect(either.reason == .taskCancelled)
    #expect(all.reason == .deadlineExceeded)
    #expect((tokens[1] || tokens[0]).reason == .taskCancelled)
  }

  @Test("K9: the first of tokens that had been cancelled gives the reason, with all(of:) the last")
  func reasonsOfCancelled() {
    let operands = (0..<2).map { _ in Operand() }
    operands[1].settle(.cancelled, .deadlineExceeded)
    operands[0].settle(.cancelled, .taskCancelled)
    let tokens = operands.map(\.token)
    #expect((tokens[0] || tokens[1]).reason == .taskCancelled)
    #expect((tokens[1] || tokens[0]).reason == .deadlineExceeded)
    #expect(CancellationToken.any(of: tokens).reason == .taskCancelled)
    #expect((tokens[0] && tokens[1]).reason == .deadlineExceeded)
    #expect(CancellationToken.all(of: tokens).reason == .deadlineExceeded)
    #expect(CancellationTokenSource(linkedTo: tokens).token.reason == .taskCancelled)
  }

  @Test(
    "K9: a derived token that is released leaves its operands; a decided one the other operand")
  func leaving() {
    let probe = Probe()
    let operands = (0..<2).map { _ in Operand() }
    let tokens = operands.map(\.token)
    do {
      let derived = tokens[0] || tokens[1]
      let mapped = derived.map { [instance = probe.instance()] in instance === instance }
      #expect(probe.living == 1 && !mapped.isCompleted)
    }
    #expect(probe.living == 0)
    let derived = tokens[0] || tokens[1]
    derived.onCancel { [instance = probe.instance()] in _ = instance }
    operands[0].settle(.cancelled)
    #expect(derived.isCancelled && probe.living == 0)
    operands[1].settle(.cancelled)
    #expect(Self.end(derived) == .cancelled)
  }

  @Test("K9: a derived token without an owner still calls its handlers")
  func ownerless() {
    let operands = (0..<2).map { _ in Operand() }
    let (tokens, recorder) = (operands.map(\.token), Recorder<String>())
    (tokens[0] || tokens[1]).onCancel { recorder.note("or") }
    (tokens[0] && tokens[1]).onComplete { recorder.note("and \($0)") }
    ((tokens[0] || tokens[1]).map { true }.flatMap { .cancelled }).onCancel {
      recorder.note("chain")
    }
    operands[0].settle(.cancelled)
    operands[1].settle(.notCancelled)
    #expect(recorder.events == ["or", "chain", "and false"])
  }

  @Test("K9: operands and derived tokens without handlers or owners end in peace")
  func withoutOwner() {
    for _ in 0..<100 {
      let operands = (0..<2).map { _ in Operand() }
      var derived = operands[0].token || operands[1].token
      derived = derived && operands[0].token
      for operand in operands { operand.settle(.notCancelled) }
      #expect(Self.end(derived) == .notCancelled)
    }
  }

  @Test("K9: operands settled by two threads decide once")
  func race() {
    for round in 0..<Rounds.few {
      let sources = (0..<2).map { _ in CancellationTokenSource() }
      let calls = Counter()
      let (either, both) = (
        sources[0].token || sources[1].token, sources[0].token && sources[1].token
      )
      either.onCancel { calls.increment() }
      both.onCancel { calls.increment() }
      let late = Slot<CancellationToken>()
      raceOnThreads(
        { sources[0].cancel() },
        { sources[1].cancel() },
        {
          late.value =
            round % 2 == 0
            ? sources[0].token || sources[1].token : sources[0].token && sources[1].token
        })
      #expect(either.isCancelled && both.isCancelled && late.value!.isCancelled)
      #expect(calls.value == 2)
    }
  }

  @Test("K9: derived tokens may be released while their operand is cancelled")
  func releaseRace() {
    for _ in 0..<Rounds.few {
      let (source, other) = (CancellationTokenSource(), CancellationTokenSource())
      let (first, second) = (Slot<CancellationToken>(), Slot<CancellationToken>())
      first.value = source.token || other.token
      second.value = (first.value! && source.token).map { true } || other.token
      raceOnThreads(
        { source.cancel() }, { first.value = nil }, { second.value = nil })
      #expect(!other.isCancelled)
    }
  }
}
